/* output.c - tables and numbers as the user sees them.  Colour and line drawing only where a
 * terminal shows them; the same words everywhere. */
#define _GNU_SOURCE /* nl_langinfo_l */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h> /* nl_langinfo_l */
#endif

#include "base/printable.h"
#include "base/text.h"
#include "stream.h"

enum { LABEL_WIDTH = 16, PAIR_WIDTH = 30, LIST_FIELDS = 4, TEXT_SIZE = 4096 };

static struct {
  bool colour, colour_errors, draws, unicode, json;
  int width, columns;
} out = {.width = 80, .columns = 80};

/* Open MPI gives a rank a pseudo-terminal, whatever mpirun's own output is. */
static bool is_terminal(int file) { return isatty(file) && !getenv("OMPI_COMM_WORLD_SIZE"); }

/* The user's locale decides only whether UTF-8 is understood: setlocale is not called, so that the
 * numbers that this program and its libraries print and read stay the same. */
static bool has_unicode(void) {
  locale_t users = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
  if (!users) return false;
  bool unicode = !strcmp(nl_langinfo_l(CODESET, users), "UTF-8");
  freelocale(users);
  return unicode;
}

/* Another program may have made the pipe or terminal nonblocking, which standard output then is
 * too: the rest of a write waits for the reader. */
static ssize_t write_on(void *cookie, const char *bytes, size_t count) {
  const int file = *(const int *)cookie;
  size_t done = 0;
  while (done < count) {
    ssize_t written = write(file, bytes + done, count - done);
    if (written >= 0)
      done += (size_t)written;
    else if (errno == EAGAIN)
      (void)poll(&(struct pollfd){.fd = file, .events = POLLOUT}, 1, -1);
    else if (errno != EINTR)
      return done ? (ssize_t)done : -1;
  }
  return (ssize_t)done;
}

/* Gives a standard stream this write.  Without memory it stays as it is. */
static void wait_for_reader(FILE **stream, int *file, int mode) {
  FILE *waits = stream_open(file, write_on);
  if (!waits) return;
  setvbuf(waits, NULL, mode, BUFSIZ);
  *stream = waits;
}

/* With musl, whose standard streams are constants, a nonblocking reader may cut the output, which
 * is then an error. */
static void wait_for_readers(void) {
#ifdef TRIREME_STREAM_VARIABLES
  static int files[] = {STDOUT_FILENO, STDERR_FILENO};
  wait_for_reader(&stdout, &files[0], _IOLBF);
  wait_for_reader(&stderr, &files[1], _IONBF);
#else
  (void)wait_for_reader;
#endif
}

void output_setup(void) {
  static char buffer[1 << 16];
  const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
  wait_for_readers();
  /* elsewhere the output is written at the end, or fails with a reason */
  if (!is_terminal(STDOUT_FILENO)) setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  bool clever = term && *term && strcmp(term, "dumb") != 0;
  bool coloured = clever && !(no_color && *no_color);
  out.colour = coloured && is_terminal(STDOUT_FILENO);
  out.colour_errors = coloured && is_terminal(STDERR_FILENO);
  out.draws = clever && is_terminal(STDERR_FILENO);
  out.unicode = has_unicode();
  const char *columns = getenv("COLUMNS");
  struct winsize size;
  if (is_terminal(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= 40) {
    out.columns = size.ws_col;
    out.width = size.ws_col < 100 ? size.ws_col : 100;
  } else if (columns && atoi(columns) >= 40) {
    out.columns = atoi(columns);
  }
}

/* The descriptors of standard output and standard error before output_silence. */
static struct {
  int file[2];
  bool draws;
} before = {{-1, -1}, false};

/* Redirects the descriptors, so that they can be restored. */
void output_silence(void) {
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  fflush(NULL);
  for (int k = 0; k < 2; k++) {
    before.file[k] = fcntl(STDOUT_FILENO + k, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO + k);
  }
  if (nowhere >= 0) close(nowhere);
  before.draws = out.draws;
  out.draws = false;
}

void output_speak(void) {
  fflush(NULL);
  for (int k = 0; k < 2; k++) {
    if (before.file[k] < 0) continue;
    dup2(before.file[k], STDOUT_FILENO + k);
    close(before.file[k]);
    before.file[k] = -1;
  }
  out.draws = before.draws;
}

int launched_rank(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (int k = 0; k < 3; k++) {
    const char *text = getenv(names[k]);
    if (text) return atoi(text);
  }
  return 0;
}

void output_set_json(bool json) { out.json = json; }
bool output_json(void) { return out.json; }
bool output_unicode(void) { return out.unicode; }
bool output_draws(void) { return out.draws; }
int output_width(void) { return out.width; }
int output_columns(void) { return out.columns; }

const char *style_on(style s) {
  static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[1;31m"};
  return out.colour ? codes[s] : "";
}

const char *style_off(void) { return out.colour ? "\033[0m" : ""; }

void print_error(const char *message) {
  const char *on = out.colour_errors ? "\033[1;31m" : "", *off = out.colour_errors ? "\033[0m" : "";
  fflush(stdout);
  fprintf(stderr, "%strireme:%s %s\n", on, off, message);
}

/* ---- Text ---- */

/* Columns that length bytes of UTF-8 take. */
static int columns(const char *text, size_t length) {
  int count = 0;
  for (size_t i = 0; i < length; i++) count += ((unsigned char)text[i] & 0xC0) != 0x80;
  return count;
}

static size_t word_length(const char *text, size_t length) {
  size_t word = 0;
  while (word < length && text[word] != ' ') word++;
  return word;
}

/* The word at text, with the unit if it is a number that has one. */
static size_t unbroken_length(const char *text, size_t length) {
  static const char *const units[] = {"ns", "µs", "ms", "s",  "min", "h",
                                      "B",  "kB", "MB", "GB", "TB",  "%"};
  const size_t word = word_length(text, length);
  if (!word || word == length || text[word - 1] < '0' || text[word - 1] > '9') return word;
  const char *next = text + word + 1;
  const size_t size = word_length(next, length - word - 1);
  for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
    const size_t unit = strlen(units[k]);
    if (size >= unit && !strncmp(next, units[k], unit) &&
        (size == unit || strchr(",;:.)/", next[unit])))
      return word + 1 + size;
  }
  return word;
}

/* Prints words up to the end of a line of text, wrapped; `at` is the column reached. */
static void wrap_line(FILE *stream, const char *text, size_t length, int indent, int at) {
  int start = at;
  while (length) {
    const size_t word = unbroken_length(text, length);
    int wide = columns(text, word);
    if (at > start && at + 1 + wide > out.width) {
      fprintf(stream, "\n%*s", indent, "");
      at = start = indent;
    } else if (at > start) {
      fputc(' ', stream);
      at++;
    }
    fwrite(text, 1, word, stream);
    at += wide;
    text += word;
    length -= word;
    while (length && *text == ' ') text++, length--;
  }
}

void print_wrapped(FILE *stream, const char *text, int indent) {
  while (*text) {
    size_t length = strcspn(text, "\n");
    if (length) fprintf(stream, "%*s", indent, "");
    if (*text == ' ')
      fwrite(text, 1, length, stream);
    else
      wrap_line(stream, text, length, indent, indent);
    fputc('\n', stream);
    text += length + (text[length] == '\n');
  }
}

void print_hanging(const char *text, int indent) {
  wrap_line(stdout, text, strlen(text), indent, indent);
  printf("\n");
}

/* ---- Tables ---- */

void table_title(const char *title) {
  if (!out.json) printf("%s%s%s\n", style_on(STYLE_BOLD), human_name(title).s, style_off());
}

void table_load(void) {
  double load;
  if (getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN))
    table_row(
        "load",
        "%.1f: other programs use the cores, and the times are off; TRIREME_NUM_THREADS=1 may "
        "be faster",
        load);
}

void table_gap(void) {
  if (!out.json) printf("\n");
}

static void print_row(style s, const char *label, const char *text) {
  printf("  %s%-*s%s", style_on(STYLE_DIM), LABEL_WIDTH, label, style_off());
  printf("%s", style_on(s));
  while (*text) {
    size_t length = strcspn(text, "\n");
    wrap_line(stdout, text, length, LABEL_WIDTH + 2, LABEL_WIDTH + 2);
    text += length;
    if (*text == '\n' && *++text) printf("\n%*s", LABEL_WIDTH + 2, "");
  }
  printf("%s\n", style_off());
}

static void print_formatted(style s, const char *label, const char *format, va_list arguments) {
  char text[TEXT_SIZE];
  vsnprintf(text, sizeof text, format, arguments);
  if (!out.json) print_row(s, label, text);
}

void table_row(const char *label, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_formatted(STYLE_PLAIN, label, format, arguments);
  va_end(arguments);
}

void table_pair(const char *label, const char *left, const char *right) {
  if (out.json) return;
  int pad = *right ? PAIR_WIDTH - columns(left, strlen(left)) : 0;
  printf("  %s%-*s%s%s%*s%s\n", style_on(STYLE_DIM), LABEL_WIDTH, label, style_off(), left,
         pad > 0 ? pad : 0, "", right);
}

void table_styled(style s, const char *label, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_formatted(s, label, format, arguments);
  va_end(arguments);
}

/* Length of the first field of line, and of the two or more blanks after it. */
static size_t field_length(const char *line, size_t *blanks) {
  size_t length = 0;
  while (line[length] && line[length] != '\n' && strncmp(line + length, "  ", 2) != 0) length++;
  *blanks = strspn(line + length, " ");
  return length;
}

static void measure_fields(const char *list, size_t widest[LIST_FIELDS]) {
  size_t blanks;
  for (int field = 0; *list;) {
    size_t length = field_length(list, &blanks);
    if (length > widest[field] && blanks) widest[field] = length;
    list += length + blanks;
    field = *list == '\n' ? 0 : field + 1;
    if (field >= LIST_FIELDS - 1) {
      list += strcspn(list, "\n");
      field = 0;
    }
    list += *list == '\n';
  }
}

/* Prints the fields of one line in columns; the last is wrapped. */
static void print_fields(const char *line, const size_t widest[LIST_FIELDS]) {
  size_t blanks, column = 0, end = strcspn(line, "\n"), at = 0;
  for (int field = 0; field < LIST_FIELDS - 1; field++) {
    size_t length = field_length(line + at, &blanks);
    if (!blanks || at + length >= end) break;
    printf("%s%.*s%s%*s", style_on(field ? STYLE_PLAIN : STYLE_BOLD), (int)length, line + at,
           style_off(), (int)(widest[field] + 2 - length), "");
    column += widest[field] + 2;
    at += length + blanks;
  }
  wrap_line(stdout, line + at, end - at, (int)column, (int)column);
  printf("\n");
}

void print_list(const char *list) {
  size_t widest[LIST_FIELDS] = {0};
  measure_fields(list, widest);
  while (*list) {
    print_fields(list, widest);
    list += strcspn(list, "\n");
    list += *list == '\n';
  }
}

/* ---- Names and numbers ---- */

name_text human_name(const char *name) {
  name_text t;
  trs_printable(t.s, sizeof t.s, name);
  return t;
}

void svg_escape(FILE *svg, const char *text) {
  const name_text shown = human_name(text);
  for (text = shown.s; *text; text++) {
    if (*text == '<')
      fputs("&lt;", svg);
    else if (*text == '>')
      fputs("&gt;", svg);
    else if (*text == '&')
      fputs("&amp;", svg);
    else
      fputc(*text, svg);
  }
}

short_text human_count(int64_t count) {
  char digits[24];
  short_text t;
  size_t n = (size_t)snprintf(digits, sizeof digits, "%llu",
                              (unsigned long long)(count < 0 ? -count : count));
  char *to = t.s;
  if (count < 0) *to++ = '-';
  for (size_t i = 0; i < n; i++) {
    if (i && (n - i) % 3 == 0) *to++ = ',';
    *to++ = digits[i];
  }
  *to = 0;
  return t;
}

/* Three significant digits and a unit. */
static short_text scaled(double value, const char *unit) {
  short_text t;
  int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  snprintf(t.s, sizeof t.s, "%.*f %s", digits, value, unit);
  return t;
}

short_text human_seconds(double seconds) {
  short_text t = {"not finite"};
  if (!isfinite(seconds)) return t;
  if (seconds >= 0.9995) return scaled(seconds, "s");
  if (seconds >= 0.9995e-3) return scaled(seconds * 1e3, "ms");
  if (seconds >= 0.9995e-6) return scaled(seconds * 1e6, out.unicode ? "µs" : "us");
  if (seconds > 0) return scaled(seconds * 1e9, "ns");
  return (short_text){"0 s"};
}

short_text human_bytes(double bytes) {
  short_text t;
  if (bytes >= 999.5e9) return scaled(bytes * 1e-12, "TB");
  if (bytes >= 999.5e6) return scaled(bytes * 1e-9, "GB");
  if (bytes >= 999.5e3) return scaled(bytes * 1e-6, "MB");
  if (bytes >= 999.5) return scaled(bytes * 1e-3, "kB");
  snprintf(t.s, sizeof t.s, "%.0f %s", bytes, bytes == 1 ? "byte" : "bytes");
  return t;
}

short_text human_real(double value) {
  short_text t;
  if (!isfinite(value)) return (short_text){"not finite"};
  if (value >= 999.5 && value < 1e15) return human_count(llround(value));
  snprintf(t.s, sizeof t.s, "%.3g", value);
  return t;
}

short_text human_times(double ratio) {
  short_text t;
  if (!isfinite(ratio)) return (short_text){"not finite"};
  if (ratio >= 999.5) return human_real(ratio);
  snprintf(t.s, sizeof t.s, "%.*f", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
  return t;
}

short_text human_things(int64_t count, const char *one, const char *many) {
  short_text t;
  snprintf(t.s, sizeof t.s, "%.27s %.35s", human_count(count).s, count == 1 ? one : many);
  return t;
}

const char *human_scalar(trs_scalar scalar) {
  static const char *const names[] = {[TRS_FLOAT] = "float",
                                      [TRS_DOUBLE] = "double",
                                      [TRS_SCOMPLEX] = "float complex",
                                      [TRS_DCOMPLEX] = "double complex"};
  return scalar >= TRS_FLOAT && scalar <= TRS_DCOMPLEX ? names[scalar] : "unknown";
}

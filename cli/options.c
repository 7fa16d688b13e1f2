/* options.c - parses argv into a command's settings by its table of options.  Options may come
 * before or after operands; "--" ends them; "--name VALUE", "--name=VALUE", "-nVALUE" and "-n
 * VALUE" are the same. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "command.h"
#include "leave.h"

static const option *find_long(const command *c, const char *name, size_t length) {
  for (const option *o = c->options; o->name; o++)
    if (strlen(o->name) == length && !strncmp(o->name, name, length)) return o;
  return NULL;
}

short_text nth_word(const char *words, int position) {
  const char *word = words;
  size_t length = 0;
  short_text t;
  for (int i = 0; i <= position; i++) length = trs_next_word(&words, &word);
  snprintf(t.s, sizeof t.s, "%.*s", (int)length, word);
  return t;
}

static const option *find_letter(const command *c, char letter) {
  for (const option *o = c->options; o->name; o++)
    if (o->letter == letter) return o;
  return NULL;
}

/* The option that has this word among its choices: --lower is meant for --uplo lower. */
static const option *option_of_choice(const command *c, const char *name) {
  for (const option *o = c->options; o->name; o++) {
    const char *words = o->words ? o->words : "", *word;
    for (size_t length; (length = trs_next_word(&words, &word));)
      if (strlen(name) == length && !strncmp(name, word, length)) return o;
  }
  return NULL;
}

static int unknown_option(const command *c, const char *typed) {
  char known[1024] = "help", near[64];
  size_t used = strlen(known);
  for (const option *o = c->options; o->name && used < sizeof known; o++)
    used += (size_t)snprintf(known + used, sizeof known - used, "|%s", o->name);
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
  const option *chooses = typed[1] == '-' ? option_of_choice(c, name) : NULL;
  if (chooses)
    return leave_usage(c->name, "there is no option --%s; did you mean --%s %s?", name,
                       chooses->name, name);
  if (typed[1] == '-' && c->source && find_long(c->source, name, strlen(name)))
    return leave_usage(c->name,
                       "there is no option --%s; trireme %s has it, and writes what trireme "
                       "%s reads",
                       name, c->source->name, c->name);
  if (typed[1] == '-' && trs_nearest(near, sizeof near, name, known))
    return leave_usage(c->name, "there is no option --%s; did you mean --%s?", name, near);
  return leave_usage(c->name, "there is no option %s", typed);
}

/* What other programs call the same. */
static const char *elsewhere(const char *text) {
  static const char *const words[][2] = {
      {"metis", "nd"}, {"none", "natural"}, {"color", "colour"}, {"single", "float"}};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (!strcmp(text, words[k][0])) return words[k][1];
  return text;
}

static int bad_choice(const command *c, const option *o, const char *text) {
  char near[64], choices[128], *end = choices;
  const char *words = o->words, *word;
  for (size_t length; (length = trs_next_word(&words, &word));)
    end += snprintf(end, (size_t)(choices + sizeof choices - end), "%s%.*s",
                    end == choices ? ""
                    : *words       ? ", "
                                   : " or ",
                    (int)length, word);
  if (trs_nearest(near, sizeof near, elsewhere(text), o->words))
    return leave_usage(c->name, "--%s takes %s, not '%s'; did you mean %s?", o->name, choices, text,
                       near);
  return leave_usage(c->name, "--%s takes %s, not '%s'", o->name, choices, text);
}

/* Whether text is the word, in any case, or LAPACK's or Python's letter for it. */
static bool means(const char *text, const char *word, size_t length) {
  static const char *const letters[] = {"llower", "uupper", "uunit", "nnonunit", "hc"};
  if (strlen(text) == length && trs_same_letters(text, word, length)) return true;
  for (size_t k = 0; k < sizeof letters / sizeof *letters && text[0] && !text[1]; k++)
    if (trs_lower(text[0]) == letters[k][0] && strlen(letters[k] + 1) == length &&
        !strncmp(letters[k] + 1, word, length))
      return true;
  return false;
}

static int set_choice(const command *c, const option *o, int *field, const char *text) {
  const char *words = o->words, *word;
  int position = 0;
  for (size_t length; (length = trs_next_word(&words, &word)); position++)
    if (means(text, word, length)) {
      *field = position;
      return -1;
    }
  return bad_choice(c, o, text);
}

static int out_of_range(const command *c, const option *o, const char *text) {
  if (isinf(o->maximum) || o->maximum >= 0x1p53)
    return leave_usage(c->name, "--%s takes a number of at least %g, not '%s'", o->name, o->minimum,
                       text);
  return leave_usage(c->name, "--%s takes a number from %g to %.10g, not '%s'", o->name, o->minimum,
                     o->maximum, text);
}

static int set_count(const command *c, const option *o, int64_t *field, const char *text) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end)
    return leave_usage(c->name, "--%s takes a whole number, not '%s'", o->name, text);
  if (errno || (double)value < o->minimum || (double)value > o->maximum)
    return out_of_range(c, o, text);
  *field = value;
  return -1;
}

static int set_real(const command *c, const option *o, double *field, const char *text) {
  const char *end;
  double value = trs_number(text, &end);
  if (end == text || *end || isnan(value))
    return leave_usage(c->name, "--%s takes a number, not '%s'", o->name, text);
  if (value < o->minimum || value > o->maximum) return out_of_range(c, o, text);
  *field = value;
  return -1;
}

static int add_text(const command *c, const option *o, option_texts *texts, const char *text) {
  enum { MOST = sizeof texts->text / sizeof *texts->text };
  if (texts->count == MOST)
    return leave_usage(c->name, "--%s can be given %d times at most", o->name, MOST);
  texts->text[texts->count++] = text;
  return -1;
}

static int set(const command *c, const option *o, void *settings, const char *text) {
  void *field = (char *)settings + o->offset;
  if (o->kind != OPTION_FLAG && !*text)
    return leave_usage(c->name, "--%s was given an empty value", o->name);
  switch (o->kind) {
    case OPTION_FLAG:
      *(bool *)field = true;
      return -1;
    case OPTION_TEXT:
    case OPTION_FILE:
      *(const char **)field = text;
      return -1;
    case OPTION_TEXTS:
      return add_text(c, o, field, text);
    case OPTION_CHOICE:
      return set_choice(c, o, field, text);
    case OPTION_COUNT:
      return set_count(c, o, field, text);
    case OPTION_REAL:
      return set_real(c, o, field, text);
  }
  return LEAVE_BUG;
}

/* Sets the option in argv[*at], whose value is attached or the next word. */
static int take(const command *c, const option *o, void *settings, const char *attached, int argc,
                char **argv, int *at) {
  if (o->kind == OPTION_FLAG) {
    if (attached)
      return leave_usage(c->name, "--%s takes no value, but was given '%s'", o->name, attached);
    return set(c, o, settings, "");
  }
  if (!attached) {
    if (*at + 1 >= argc)
      return leave_usage(c->name, "--%s needs a value: %s", o->name,
                         o->kind == OPTION_CHOICE ? o->words : o->value);
    attached = argv[++*at];
  }
  return set(c, o, settings, attached);
}

static int take_long(const command *c, void *settings, int argc, char **argv, int *at) {
  const char *name = argv[*at] + 2, *equals = strchr(name, '=');
  const option *o = find_long(c, name, equals ? (size_t)(equals - name) : strlen(name));
  if (!o) return unknown_option(c, argv[*at]);
  return take(c, o, settings, equals ? equals + 1 : NULL, argc, argv, at);
}

static int take_short(const command *c, void *settings, int argc, char **argv, int *at) {
  const char *word = argv[*at];
  const option *o = find_letter(c, word[1]);
  if (!o) return unknown_option(c, word);
  return take(c, o, settings, word[2] ? word + 2 + (word[2] == '=') : NULL, argc, argv, at);
}

static int check_operands(const command *c, int count, char **argv) {
  if (count < c->min_operands)
    return leave_usage(c->name, "%s is missing; expected: trireme %s %s",
                       c->operand && !strcmp(c->operand, "matrix") ? "M, a matrix," : "a word",
                       c->name, c->synopsis);
  if (count > c->max_operands)
    return leave_usage(c->name, "'%s' is one word too many", argv[c->max_operands]);
  return -1;
}

int options_parse(const command *c, void *settings, int *argc, char **argv) {
  int operands = 0, code = -1;
  bool only_operands = false;
  for (int at = 0; at < *argc && code < 0; at++) {
    const char *word = argv[at];
    if (only_operands || word[0] != '-' || !word[1]) {
      argv[operands++] = argv[at];
    } else if (!strcmp(word, "--")) {
      only_operands = true;
    } else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
      (word[1] == 'h' ? help_print_brief : help_print)(c);
      return LEAVE_SOLVED;
    } else {
      code = word[1] == '-' ? take_long(c, settings, *argc, argv, &at)
                            : take_short(c, settings, *argc, argv, &at);
    }
  }
  if (code >= 0) return code;
  *argc = operands;
  return check_operands(c, operands, argv);
}

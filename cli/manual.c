/* manual.c - a manual page (roff, man macros) from a command's table: trireme help --man NAME. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "command.h"
#include "leave.h"
#include "trireme.h"

/* Prints text with roff's own characters escaped; at_start: at the first column of a line. */
static void put(const char *text, size_t length, bool at_start) {
  for (size_t i = 0; i < length; i++) {
    char letter = text[i];
    if ((letter == '.' || letter == '\'') && at_start && i == 0) printf("\\&");
    if (letter == '\\')
      printf("\\e");
    else if (letter == '-')
      printf("\\-");
    else if (letter == '\'')
      printf("\\(aq");
    else
      putchar(letter);
  }
}

static void put_text(const char *text) { put(text, strlen(text), true); }

static void section(const char *title) {
  printf(".SH ");
  for (; *title; title++) putchar(trs_upper(*title));
  printf("\n");
}

/* Prints paragraphs: blank lines separate them, indented lines are literal. */
static void prose(const char *text) {
  bool literal = false, first = true;
  for (; *text; first = false) {
    size_t length = strcspn(text, "\n");
    bool indented = *text == ' ';
    if (indented != literal) printf("%s\n", !indented ? ".fi" : first ? ".nf" : ".PP\n.nf");
    literal = indented;
    if (length)
      put(text, length, true);
    else
      printf(".PP");
    printf("\n");
    text += length + (text[length] == '\n');
    if (!indented && *text && *text != '\n' && *text != ' ') printf(".PP\n");
  }
  if (literal) printf(".fi\n");
}

static void put_option(const option *o) {
  printf(".TP\n");
  if (o->letter) printf("\\fB\\-%c\\fR, ", o->letter);
  printf("\\fB\\-\\-");
  put(o->name, strlen(o->name), false);
  printf("\\fR");
  const char *value = o->kind == OPTION_CHOICE ? o->words : o->value;
  if (value) {
    printf(" \\fI");
    put(value, strlen(value), false);
    printf("\\fR");
  }
  printf("\n");
  put_text(o->help);
  printf(".\n");
}

static void put_options(const command *c) {
  static const option help = {.name = "help", .letter = 'h', .help = "print this help and exit"};
  section("options");
  for (const option *o = c->options; o->name; o++) put_option(o);
  put_option(&help);
}

static void put_exit_codes(void) {
  section("exit status");
  for (const exit_code *e = exit_codes; e->text; e++) {
    printf(".TP\n.B %d\n", e->code);
    put_text(e->text);
    printf(".\n");
  }
}

static void put_commands(const command *const *commands) {
  section("commands");
  for (int i = 0; commands[i]; i++) {
    printf(".TP\n.B trireme %s\n", commands[i]->name);
    put_text(commands[i]->summary);
    printf("\n");
  }
}

static void see_also(const command *const *commands) {
  section("see also");
  if (!commands) printf(".BR trireme (1)");
  for (int i = 0; commands && commands[i]; i++)
    printf("%s.BR trireme\\-%s (1)", i ? ",\n" : "", commands[i]->name);
  printf("\n");
}

static void head(const command *c) {
  bool root = c->commands;
  const char *dash = root ? "" : "-";
  printf(".TH \"TRIREME%s", dash);
  for (const char *p = c->name; *p; p++) putchar(trs_upper(*p));
  printf("\" 1 \"\" \"Trireme %s\" \"Trireme manual\"\n", trs_version());
  section("name");
  printf("trireme%s%s \\- ", root ? "" : "\\-", c->name);
  put_text(c->summary);
  printf("\n");
  section("synopsis");
  printf("\\fBtrireme%s%s\\fR ", root ? "" : " ", c->name);
  put(c->synopsis, strlen(c->synopsis), false);
  printf("\n");
}

void manual_print(const command *c) {
  const paragraph *p = c->paragraphs;
  head(c);
  section("description");
  for (bool first = true; p->text && !p->title; p++, first = false) {
    if (!first) printf(".PP\n");
    prose(p->text);
  }
  if (c->commands) put_commands(c->commands);
  put_options(c);
  for (; p->text; p++) {
    section(p->title);
    prose(p->text);
  }
  put_exit_codes();
  see_also(c->commands);
}

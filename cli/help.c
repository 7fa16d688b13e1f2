/* help.c - --help and -h from a command's table. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "command.h"
#include "leave.h"
#include "output.h"

enum { HELP_COLUMN = 30 };

void option_head(const option *o, char *text, size_t size) {
  char letter[8] = "    ";
  if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
  const char *value = o->kind == OPTION_CHOICE ? o->words : o->value;
  snprintf(text, size, "%s--%s%s%s", letter, o->name, value ? " " : "", value ? value : "");
}

static void heading(const char *title) {
  printf("\n%s%s%s\n", style_on(STYLE_BOLD), title, style_off());
}

/* One entry: its head, then the text in the right-hand column. */
static void entry(const char *head, const char *text) {
  printf("  %s", head);
  if (strlen(head) + 4 > HELP_COLUMN)
    printf("\n%*s", HELP_COLUMN, "");
  else
    printf("%*s", (int)(HELP_COLUMN - 2 - strlen(head)), "");
  print_hanging(text, HELP_COLUMN);
}

static void print_options(const command *c) {
  char head[160];
  heading("Options");
  for (const option *o = c->options; o->name; o++) {
    option_head(o, head, sizeof head);
    entry(head, o->help);
  }
  entry("-h, --help", c->brief ? "print this help and exit; -h: the most used options alone"
                               : "print this help and exit");
}

static void print_commands(const command *const *commands) {
  heading("Commands");
  for (int i = 0; commands[i]; i++) {
    const command *c = commands[i];
    char head[96];
    snprintf(head, sizeof head, "%s%s%s", c->name, *c->synopsis ? " " : "", c->synopsis);
    entry(strlen(head) + 4 > HELP_COLUMN ? c->name : head, c->summary);
  }
}

static void print_exit_codes(void) {
  heading("Exit codes");
  for (const exit_code *e = exit_codes; e->text; e++) {
    char head[8];
    snprintf(head, sizeof head, "%d", e->code);
    printf("  %-4s", head);
    print_hanging(e->text, 6);
  }
}

static void print_usage(const command *c) {
  char usage[512];
  snprintf(usage, sizeof usage, "trireme%s%s%s%s", *c->name ? " " : "", c->name,
           *c->synopsis ? " " : "", c->synopsis);
  printf("Usage: ");
  print_hanging(usage, 7);
  printf("\n%c%s.\n", trs_upper(c->summary[0]), c->summary + 1);
}

void help_print(const command *c) {
  const paragraph *p = c->paragraphs;
  print_usage(c);
  for (; p->text && !p->title; p++) {
    printf("\n");
    print_wrapped(stdout, p->text, 0);
  }
  if (c->commands) print_commands(c->commands);
  print_options(c);
  for (; p->text; p++) {
    heading(p->title);
    print_wrapped(stdout, p->text, 2);
  }
  if (c->commands) print_exit_codes();
}

void help_print_brief(const command *c) {
  if (!c->brief) {
    help_print(c);
    return;
  }
  print_usage(c);
  if (c->commands) print_commands(c->commands);
  printf("\n%s\n%s: trireme %s%s--help\n", c->brief, c->commands ? "More" : "All options", c->name,
         *c->name ? " " : "");
}

void command_print(const command *c, const char *what) {
  if (!strcmp(what, "help"))
    help_print(c);
  else if (!strcmp(what, "man"))
    manual_print(c);
  else
    completion_print_command(c, what);
}

/* completion.c - completion scripts for bash, zsh and fish, from the tables of the commands. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "leave.h"
#include "program.h"
#include "trireme.h"

/* Prints text with a backslash before each character in `escaped`. */
static void print_escaped(const char *text, size_t length, const char *escaped) {
  for (size_t i = 0; i < length; i++) {
    if (strchr(escaped, text[i])) putchar('\\');
    putchar(text[i]);
  }
}

/* Prints the library's generators, "gen:NAME:ARGUMENTS   summary" per line, as "NAME:" after
 * before. */
static void print_generators(const char *before, const char *escaped) {
  static const char prefix[] = "gen:";
  for (const char *line = trs_generator_list(); *line;) {
    if (!strncmp(line, prefix, sizeof prefix - 1)) line += sizeof prefix - 1;
    size_t name = strcspn(line, ": \n");
    fputs(before, stdout);
    print_escaped(line, name + (line[name] == ':'), escaped);
    putchar(' ');
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
}

/* Prints the library's methods, "NAME   summary" per line, as names. */
static void print_methods(void) {
  for (const char *line = trs_method_list(); *line;) {
    printf("%.*s ", (int)strcspn(line, " \n"), line);
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
}

/* Of the script that is printed; NULL while another program prints its part. */
static const command *const *commands;

static bool takes_matrix(const command *c) { return c->operand && !strcmp(c->operand, "matrix"); }
static bool takes_files(const command *c) {
  return c->operand && (takes_matrix(c) || !strcmp(c->operand, "file"));
}

/* The words of a '|' list with blanks between; @methods and @generators come from the library,
 * @commands from here. */
static void print_words(const char *words, const char *escaped) {
  if (!strcmp(words, "@methods")) {
    print_methods();
  } else if (!strcmp(words, "@generators")) {
    print_generators("", escaped);
  } else if (!strcmp(words, "@commands")) {
    for (int i = 0; commands && commands[i]; i++) printf("%s ", commands[i]->name);
  } else {
    for (; *words; words++) putchar(*words == '|' ? ' ' : *words);
  }
}

static bool takes_file(const option *o) { return o->kind == OPTION_FILE; }

/* Prints text for single quotes of a shell; ':' and brackets are special in zsh's _arguments. */
static void print_quoted(const char *text, const char *escaped) {
  for (; *text; text++) {
    if (*text == '\'')
      printf("'\\''");
    else if (strchr(escaped, *text))
      printf("\\%c", *text);
    else
      putchar(*text);
  }
}

/* ---- bash ---- */

static void bash_value(const option *o) {
  if (o->kind == OPTION_FLAG) return;
  printf("        ");
  if (o->letter) printf("-%c|", o->letter);
  printf("--%s)\n          ", o->name);
  if (takes_file(o)) {
    printf("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))");
  } else {
    printf("COMPREPLY=($(compgen -W '");
    if (o->words) print_words(o->words, "");
    printf("' -- \"$cur\"))");
  }
  printf("; return ;;\n");
}

static void bash_command(const command *c) {
  printf("    %s)\n      case $prev in\n", c->name);
  for (const option *o = c->options; o->name; o++) bash_value(o);
  printf("      esac\n      options='");
  for (const option *o = c->options; o->name; o++) printf("--%s ", o->name);
  printf("--help'");
  if (takes_files(c)) {
    printf(" files=yes");
  } else if (c->operand) {
    printf(" operands='");
    print_words(c->operand, "");
    printf("'");
  }
  if (takes_matrix(c)) {
    printf(" generators='");
    print_generators("", "");
    printf("'");
  }
  printf(" ;;\n");
}

static void bash_begin(void) {
  printf(
      "# bash completion for trireme; made by 'trireme completion bash'.\n"
      "_trireme() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local command=${COMP_WORDS[1]} options='' operands='' files='' generators=''\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '");
  print_words("@commands", "");
  printf("--help --version' -- \"$cur\"))\n    return\n  fi\n  case $command in\n");
}

/* Bash splits words at ':' unless COMP_WORDBREAKS says otherwise, and then wants the part after it.
 */
static void bash_end(void) {
  printf(
      "  esac\n"
      "  local word=$cur before=''\n"
      "  [[ $cur == : ]] && word=$prev:\n"
      "  [[ $prev == : ]] && word=${COMP_WORDS[COMP_CWORD-2]}:$cur\n"
      "  [[ $cur == gen:* ]] && before=gen:\n"
      "  if [[ $cur == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
      "  elif [[ $generators && $word == gen:* ]]; then\n"
      "    compopt -o nospace\n"
      "    COMPREPLY=($(compgen -P \"$before\" -W \"$generators\" -- \"${word#gen:}\"))\n"
      "  elif [[ $files ]]; then\n"
      "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
      "    local names=${#COMPREPLY[@]}\n"
      "    [[ $generators && gen: == \"$cur\"* ]] && COMPREPLY+=(gen:)\n"
      "    if ((names)); then compopt -o filenames; else compopt -o nospace; fi\n"
      "  else\n"
      "    COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
      "  fi\n"
      "}\n"
      "complete -F _trireme trireme\n");
}

/* ---- zsh ---- */

static void zsh_option(const option *o) {
  printf("        ");
  if (o->letter)
    printf("'(-%c --%s)'{-%c,--%s%s}'[", o->letter, o->name, o->letter, o->name,
           o->kind == OPTION_FLAG ? "" : "=");
  else
    printf("'--%s%s[", o->name, o->kind == OPTION_FLAG ? "" : "=");
  print_quoted(o->help, "[]:\\");
  printf("]");
  if (o->kind != OPTION_FLAG) {
    const char *value = o->value ? o->value : o->name;
    printf(":");
    print_escaped(value, strlen(value), ":\\");
    printf(":");
    if (takes_file(o)) printf("_files");
    if (o->words) {
      printf("(");
      print_words(o->words, ":");
      printf(")");
    }
  }
  printf("' \\\n");
}

static void zsh_command(const command *c) {
  printf("    %s)\n      _arguments \\\n", c->name);
  for (const option *o = c->options; o->name; o++) zsh_option(o);
  printf("        '(-h --help)'{-h,--help}'[print help]'");
  if (takes_matrix(c)) {
    printf(" \\\n        '*:matrix:_trireme_matrix'");
  } else if (takes_files(c)) {
    printf(" \\\n        '*:file:_files'");
  } else if (c->operand) {
    printf(" \\\n        '1:name:(");
    print_words(c->operand, ":");
    printf(")'");
  }
  printf("\n      ;;\n");
}

static void zsh_begin(void) {
  printf(
      "#compdef trireme\n"
      "# zsh completion for trireme; made by 'trireme completion zsh'.\n"
      "_trireme_matrix() {\n"
      "  _files\n"
      "  compadd -S '' -- ");
  print_generators("gen:", "");
  printf(
      "\n"
      "}\n"
      "_trireme() {\n"
      "  local -a commands=(\n");
  for (int i = 0; commands[i]; i++) {
    printf("    '%s:", commands[i]->name);
    print_quoted(commands[i]->summary, ":\\");
    printf("'\n");
  }
  printf(
      "  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    _values option --help --version\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n");
}

static void zsh_end(void) { printf("  esac\n}\n_trireme \"$@\"\n"); }

/* ---- fish ---- */

static void fish_option(const command *c, const option *o) {
  printf("complete -c trireme -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (o->letter) printf(" -s %c", o->letter);
  if (o->kind != OPTION_FLAG) printf(takes_file(o) ? " -rF" : " -x");
  if (o->words) {
    printf(" -a '");
    print_words(o->words, "");
    printf("'");
  }
  printf(" -d '");
  print_quoted(o->help, "");
  printf("'\n");
}

static void fish_command(const command *c) {
  if (takes_matrix(c)) {
    printf("complete -c trireme -n '__fish_seen_subcommand_from %s' -a '", c->name);
    print_generators("gen:", "");
    printf("'\n");
  } else if (c->operand && !takes_files(c)) {
    printf("complete -c trireme -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
    print_words(c->operand, "");
    printf("'\n");
  }
  for (const option *o = c->options; o->name; o++) fish_option(c, o);
}

static void fish_begin(void) {
  printf(
      "# fish completion for trireme; made by 'trireme completion fish'.\n"
      "complete -c trireme -l help -s h -d 'print help'\n"
      "complete -c trireme -n __fish_use_subcommand -f -l version -d 'print the version'\n");
  for (int i = 0; commands[i]; i++) {
    printf("complete -c trireme -n __fish_use_subcommand -f -a %s -d '", commands[i]->name);
    print_quoted(commands[i]->summary, "");
    printf("'\n");
  }
}

static void fish_end(void) {}

/* ---- All ---- */

static const struct shell {
  const char *name;
  void (*begin)(void), (*command)(const command *c), (*end)(void);
} shells[] = {{"bash", bash_begin, bash_command, bash_end},
              {"zsh", zsh_begin, zsh_command, zsh_end},
              {"fish", fish_begin, fish_command, fish_end}};

static const struct shell *find_shell(const char *name) {
  for (size_t k = 0; k < sizeof shells / sizeof *shells; k++)
    if (!strcmp(shells[k].name, name)) return &shells[k];
  return NULL;
}

void completion_print_command(const command *c, const char *shell) {
  const struct shell *s = find_shell(shell);
  if (s) s->command(c);
}

int completion_print(const command *root, const char *shell) {
  const struct shell *s = find_shell(shell);
  if (!s)
    return leave_usage("completion", "there is no script for '%s', only for bash, zsh and fish",
                       shell);
  commands = root->commands;
  s->begin();
  for (int i = 0; commands[i]; i++)
    if (commands[i]->program)
      program_call((const char *const[]){commands[i]->program, "--print", shell, NULL});
    else
      s->command(commands[i]);
  s->end();
  return LEAVE_SOLVED;
}

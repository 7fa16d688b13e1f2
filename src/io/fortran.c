/* fortran.c - formats of Fortran for input (ISO/IEC 1539-1:2010, chapter 10): fields I, F, E, EN,
 * ES, D and G, X, T, TL, TR, slashes, scale factors, repeated groups; BN, S, SP, SS and colons have
 * no effect on input.  Commas may be left out.  O(length). */
#include "io/fortran.h"

#include <string.h>

#include "base/text.h"
#include "io/number.h"

typedef struct parser {
  trs_fortran *f;
  const char *at, *end;
} parser;

static void skip_blanks(parser *p) {
  while (p->at < p->end && trs_is_blank(*p->at)) p->at++;
}

static char look(parser *p) {
  skip_blanks(p);
  return p->at < p->end ? trs_upper(*p->at) : 0;
}

static bool take(parser *p, const char *letters) {
  const char next = look(p);
  const bool there = next && strchr(letters, next);
  p->at += there;
  return there;
}

/* A number, or what it is if it is left out. */
static int take_number(parser *p, int otherwise) {
  enum { MOST = 100000 };
  int number = 0;
  if (look(p) < '0' || look(p) > '9') return otherwise;
  for (; look(p) >= '0' && look(p) <= '9'; p->at++)
    if (number < MOST) number = 10 * number + (*p->at - '0');
  return number;
}

static trs_fortran_edit *add(parser *p, int kind, int count) {
  static trs_fortran_edit beyond; /* the parse fails: too many */
  trs_fortran_edit *edit = &beyond;
  if (p->f->nedits < TRS_FORTRAN_EDITS) edit = &p->f->edit[p->f->nedits];
  if (edit == &beyond) return NULL;
  p->f->nedits++;
  *edit = (trs_fortran_edit){.kind = kind, .count = count};
  return edit;
}

static bool add_field(parser *p, char letter, int count) {
  trs_fortran_edit *edit = add(p, TRS_EDIT_FIELD, count);
  if (!edit) return false;
  edit->real = letter != 'I';
  if (letter == 'E') (void)take(p, "NS");
  edit->width = take_number(p, 0);
  if (take(p, ".")) edit->digits = edit->real ? take_number(p, 0) : 0 * take_number(p, 0);
  if (strchr("EG", letter) && take(p, "E")) (void)take_number(p, 0);
  return count > 0 && edit->width > 0 && edit->width <= TRS_FORTRAN_WIDTH &&
         edit->digits <= TRS_FORTRAN_WIDTH;
}

static bool add_tabulator(parser *p) {
  if (take(p, "L")) return add(p, TRS_EDIT_MOVE, -take_number(p, 0));
  if (take(p, "R")) return add(p, TRS_EDIT_MOVE, take_number(p, 0));
  return add(p, TRS_EDIT_TO, take_number(p, 1) - 1);
}

/* An item other than a group, behind its number. */
static bool add_item(parser *p, int count, int sign) {
  const char letter = look(p);
  p->at++;
  if (letter == 'P') return add(p, TRS_EDIT_SCALE, sign * count);
  if (sign < 0) return false;
  if (letter && strchr("IFEDG", letter)) return add_field(p, letter, count);
  if (letter == 'X') return add(p, TRS_EDIT_MOVE, count);
  if (letter == '/') return add(p, TRS_EDIT_LINE, count);
  if (letter == 'T') return add_tabulator(p);
  if (letter == 'S') return take(p, "PS"), true;
  return letter == ':' || (letter == 'B' && take(p, "N"));
}

/* Behind its parenthesis.  begin: the edit that opened the group, -1 for the format itself. */
static bool parse_group(parser *p, int begin, int depth) {
  bool fields = false;
  for (;;) {
    while (take(p, ",")) continue;
    if (take(p, ")")) break;
    const int sign = take(p, "-") ? -1 : (take(p, "+"), 1);
    const int count = take_number(p, 1), at = p->f->nedits;
    if (!take(p, "(")) {
      if (p->at >= p->end || !add_item(p, count, sign)) return false;
      continue;
    }
    if (depth == 0) p->f->again = at;
    if (depth == TRS_FORTRAN_DEPTH || count == 0 || !add(p, TRS_EDIT_GROUP, count) ||
        !parse_group(p, at, depth + 1))
      return false;
  }
  if (begin < 0) {
    for (int k = p->f->again; k < p->f->nedits; k++) fields |= p->f->edit[k].kind == TRS_EDIT_FIELD;
    return fields; /* or a read would never end */
  }
  trs_fortran_edit *end = add(p, TRS_EDIT_END, 0);
  if (end) end->begin = begin;
  return end;
}

bool trs_fortran_parse(trs_fortran *f, const char *at, const char *end, const char **after) {
  parser p = {.f = f, .at = at, .end = end};
  *f = (trs_fortran){0};
  const bool good = take(&p, "(") && parse_group(&p, -1, 0);
  *after = p.at;
  return good;
}

const trs_fortran_edit *trs_fortran_next(trs_fortran *f) {
  while (f->at < f->nedits) {
    const trs_fortran_edit *edit = &f->edit[f->at];
    if (edit->kind == TRS_EDIT_GROUP) {
      f->left[f->depth++] = edit->count;
      f->at++;
    } else if (edit->kind == TRS_EDIT_END) {
      if (--f->left[f->depth - 1] > 0)
        f->at = edit->begin + 1;
      else
        f->depth--, f->at++;
    } else if (edit->kind == TRS_EDIT_FIELD && ++f->done < edit->count) {
      return edit;
    } else {
      f->done = 0;
      f->at++;
      return edit;
    }
  }
  return NULL;
}

void trs_fortran_restart(trs_fortran *f) {
  f->at = f->again;
  f->done = f->depth = 0;
}

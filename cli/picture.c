/* picture.c - the SVG of trireme info: pattern on the left, levels on the right, legend below.  One
 * file without scripts, fonts or external links. */
#include "picture.h"

#include <stdio.h>

#include "files.h"
#include "output.h"

enum { WIDTH = 1060, HEIGHT = 728, SIDE = 480 };

static const place pattern_place = {96, 112, SIDE, SIDE};

static const char style_sheet[] =
    "<style>\n"
    "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;"
    "fill:#24292f}\n"
    ".title{font-size:21px;font-weight:600}\n"
    ".note,.tick,.label,.legend{font-size:12px;fill:#57606a}\n"
    ".head{font-size:14px;font-weight:600}\n"
    ".axis{fill:none;stroke:#8c959f}\n"
    ".grid{fill:none;stroke:#eaeef2}\n"
    ".frame{fill:none;stroke:#8c959f}\n"
    ".tree{fill:none;stroke:#1a7f37;stroke-opacity:.55}\n"
    ".l0{fill:#d0e3f5}.l1{fill:#a4c9e9}.l2{fill:#6ba6d8}.l3{fill:#3c82c0}.l4{fill:#1c5f9f}"
    ".l5{fill:#0a3d73}\n"
    ".u0{fill:#fbdfc5}.u1{fill:#f6c193}.u2{fill:#ec985a}.u3{fill:#d9722f}.u4{fill:#b75013}"
    ".u5{fill:#823405}\n"
    ".d0{fill:#dcdfe3}.d1{fill:#bcc2c9}.d2{fill:#949ca6}.d3{fill:#6e7781}.d4{fill:#424a53}"
    ".d5{fill:#1f2328}\n"
    "</style>\n";

static void draw_text(FILE *svg, const char *class, double x, double y, const char *text) {
  fprintf(svg, "<text class=\"%s\" x=\"%g\" y=\"%g\">", class, x, y);
  svg_escape(svg, text);
  fprintf(svg, "</text>\n");
}

static void draw_head(FILE *svg, const picture *p) {
  fprintf(svg,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
          "%d\" role=\"img\">\n<title>",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  svg_escape(svg, p->title);
  fprintf(svg, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", style_sheet, WIDTH,
          HEIGHT);
  draw_text(svg, "title", 32, 44, p->title);
  draw_text(svg, "note", 32, 68, p->subtitle);
}

static void draw_column_tick(FILE *svg, double x, double y, int64_t value) {
  fprintf(svg, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", x, y);
  fprintf(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x,
          y + 19, human_count(value).s);
}

static void draw_row_tick(FILE *svg, double x, double y, int64_t value) {
  fprintf(svg, "<path class=\"axis\" d=\"M%.1f %.1fh-5\"/>", x, y);
  fprintf(svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", x - 9,
          y + 4, human_count(value).s);
}

static void draw_axes(FILE *svg, const picture *p, const raster_scale *s) {
  trs_matrix_info info = {.struct_size = sizeof info};
  trs_matrix_get_info(p->part[0], &info);
  double x = pattern_place.x, y = pattern_place.y;
  double width = (double)info.ncols * s->pixels, height = (double)info.nrows * s->pixels;
  fprintf(svg, "<rect class=\"frame\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"/>\n", x, y,
          width, height);
  double step = nice_step((double)s->span, 5);
  for (double v = 0; v <= (double)info.ncols; v += step)
    draw_column_tick(svg, x + v * s->pixels, y + height, (int64_t)v);
  for (double v = 0; v <= (double)info.nrows; v += step)
    draw_row_tick(svg, x, y + v * s->pixels, (int64_t)v);
  fprintf(svg, "<text class=\"label\" x=\"%g\" y=\"%g\" text-anchor=\"middle\">column</text>\n",
          x + width / 2, y + height + 38);
  fprintf(svg,
          "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(%g %g) "
          "rotate(-90)\">row</text>\n",
          x - 72, y + height / 2);
  draw_text(svg, "head", x, y - 14, p->part[1] ? "Pattern of L and U" : "Pattern");
}

/* Draws the columns of each node of the separator tree as squares along the diagonal. */
static void draw_tree(FILE *svg, const picture *p, const raster_scale *s) {
  for (int64_t t = 0; p->tree_ptr && t < p->tree_nodes; t++) {
    double begin = (double)p->tree_ptr[t] * s->pixels, end = (double)p->tree_ptr[t + 1] * s->pixels;
    fprintf(svg, "<rect class=\"tree\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
            pattern_place.x + begin, pattern_place.y + begin, end - begin, end - begin);
  }
}

static double draw_swatches(FILE *svg, double x, double y, char side, bool shaded) {
  for (int shade = shaded ? 0 : RASTER_CLASSES - 2; shade < (shaded ? RASTER_CLASSES : 5);
       shade++, x += 18)
    fprintf(svg, "<rect class=\"%c%d\" x=\"%g\" y=\"%g\" width=\"18\" height=\"12\"/>\n", side,
            shade, x, y - 10);
  return x;
}

static void draw_legend(FILE *svg, const picture *p, const raster_scale *s) {
  static const char *const names[] = {"below the diagonal", "above", "on it"};
  double x = pattern_place.x, y = 680;
  bool shaded = s->most > 1;
  for (int side = 0; side < 3; side++) {
    if (!s->drawn[side]) continue;
    x = draw_swatches(svg, x, y, "lud"[side], shaded);
    draw_text(svg, "legend", x + 8, y, names[side]);
    x += side ? 64 : 136;
  }
  if (p->tree_ptr) {
    fprintf(svg, "<rect class=\"tree\" x=\"%g\" y=\"%g\" width=\"12\" height=\"12\"/>\n", x,
            y - 10);
    draw_text(svg, "legend", x + 20, y, "separator tree");
  }
  char text[256];
  int64_t cell = (s->span + s->cells - 1) / (s->cells ? s->cells : 1);
  snprintf(text, sizeof text, "Shades: 1 to %s entries in a cell of about %s x %s",
           human_count(s->most).s, human_count(cell).s, human_count(cell).s);
  if (shaded) draw_text(svg, "legend", pattern_place.x, y + 22, text);
}

static void draw_charts(FILE *svg, const picture *p) {
  static const char *const colours[] = {"l", "u"};
  int present = (p->sweep[0].name != NULL) + (p->sweep[1].name != NULL), drawn = 0;
  for (int i = 0; i < 2; i++) {
    if (!p->sweep[i].name) continue;
    place at = {688, present == 2 ? 112 + 300 * drawn : 112, 336, present == 2 ? 180 : 300};
    chart_draw(svg, &p->sweep[i], at, colours[i]);
    drawn++;
  }
}

int picture_write(const picture *p, const char *path) {
  text_file file;
  raster_scale scale;
  int code = text_file_open(&file, path);
  if (code >= 0) return code;
  draw_head(file.stream, p);
  code = raster_draw(file.stream, p, pattern_place, &scale);
  draw_tree(file.stream, p, &scale);
  draw_axes(file.stream, p, &scale);
  draw_charts(file.stream, p);
  draw_legend(file.stream, p, &scale);
  fprintf(file.stream, "</svg>\n");
  return text_file_close(&file, code);
}

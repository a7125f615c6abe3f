#include "report/command/formats/memory_chart.h"

#include "report/command/formats/drawing.h"
#include "report/command/memory_history.h"

enum {
    WIDTH = 720,
    HEIGHT = 200,
    LEFT = 64, /* of the area that is drawn into */
    RIGHT = 704,
    TOP = 28,
    BOTTOM = 172,
    LABEL_BYTES = 48
};

struct chart {
    FILE *out;
    struct sc_scratch *scratch;
    const struct sc_memory_moment *moments;
    size_t count;
    uint64_t most;
};

/* Returns where the moment lies on the chart's axis of time. */
static int x_of(const struct chart *chart, const struct sc_memory_moment *moment)
{
    double first = (double)chart->moments[0].time_ns;
    double span = (double)chart->moments[chart->count - 1].time_ns - first;
    return LEFT + (int)((RIGHT - LEFT) * (((double)moment->time_ns - first) / span));
}

/* Returns where so many bytes lie on the chart's axis of sizes, at most at its top. */
static int y_of(const struct chart *chart, uint64_t bytes)
{
    double share = (double)bytes / (double)chart->most;
    return BOTTOM - (int)((BOTTOM - TOP) * (share < 1 ? share : 1));
}

/* Draws what the process held: what is held stays held until the next moment. */
static void draw_own(const struct chart *chart)
{
    fprintf(chart->out, "<path class=\"bar\" d=\"M%d %d", LEFT, BOTTOM);
    for (size_t i = 0; i < chart->count; i++) {
        if (i > 0)
            fprintf(chart->out, "H%d", x_of(chart, &chart->moments[i]));
        fprintf(chart->out, "V%d", y_of(chart, chart->moments[i].bytes));
    }
    fprintf(chart->out, "V%dZ\"/>", BOTTOM);
}

/* Draws how full the device was. A moment at which the device was not asked is passed over. */
static void draw_used(const struct chart *chart)
{
    size_t drawn = 0;
    for (size_t i = 0; i < chart->count; i++) {
        const struct sc_memory_moment *moment = &chart->moments[i];
        if (!moment->knows_used)
            continue;
        int x = x_of(chart, moment), y = y_of(chart, moment->used_bytes);
        if (drawn++ == 0)
            fprintf(chart->out, "<path class=\"used\" d=\"M%d %d", x, y);
        else
            fprintf(chart->out, "H%dV%d", x, y);
    }
    if (drawn > 0)
        fputs("\"/>", chart->out);
}

/* Draws the lines at 0 and at the largest size, and the words for both axes. */
static void draw_axes(const struct chart *chart)
{
    const struct sc_memory_moment *last = &chart->moments[chart->count - 1];
    double seconds = (double)(last->time_ns - chart->moments[0].time_ns) / 1e9;
    fprintf(chart->out,
            "<line class=\"lane\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>"
            "<line class=\"lane\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>",
            LEFT, TOP, RIGHT, TOP, LEFT, BOTTOM, RIGHT, BOTTOM);
    sc_drawing_put_text(chart->out, chart->scratch, LEFT - 6, TOP + 4,
                        " class=\"soft\" text-anchor=\"end\"",
                        sc_shown_memory_size(chart->scratch, chart->most), LABEL_BYTES);
    sc_drawing_put_text(chart->out, chart->scratch, LEFT - 6, BOTTOM + 4,
                        " class=\"soft\" text-anchor=\"end\"", "0 B", LABEL_BYTES);
    sc_drawing_put_text(chart->out, chart->scratch, LEFT, BOTTOM + 18, " class=\"soft\"", "0 s",
                        LABEL_BYTES);
    sc_drawing_put_text(chart->out, chart->scratch, RIGHT, BOTTOM + 18,
                        " class=\"soft\" text-anchor=\"end\"",
                        sc_scratch_print(chart->scratch, "%.4g s", seconds), LABEL_BYTES);
}

/* Draws the key to the colours. `has_used`: the chart also shows how much of the device all
 * processes use. */
static void draw_legend(const struct chart *chart, bool has_used)
{
    fprintf(chart->out, "<rect class=\"bar\" x=\"%d\" y=\"4\" width=\"12\" height=\"12\"/>", LEFT);
    sc_drawing_put_text(chart->out, chart->scratch, LEFT + 18, 14, "", "held by the process",
                        LABEL_BYTES);
    if (!has_used)
        return;
    fprintf(chart->out, "<path class=\"used\" d=\"M%d 10H%d\"/>", LEFT + 180, LEFT + 204);
    sc_drawing_put_text(chart->out, chart->scratch, LEFT + 210, 14, "",
                        "in use of the device, by all", LABEL_BYTES);
}

/* Returns the chart in words, for those who cannot see it. */
static const char *words_of(const struct chart *chart, const struct sc_memory_place *place)
{
    return sc_scratch_print(
        chart->scratch, "%s at the beginning, %s at the peak, %s at the end",
        sc_shown_memory_size(chart->scratch, chart->moments[0].bytes),
        sc_shown_memory_size(chart->scratch, place->peak_bytes),
        sc_shown_memory_size(chart->scratch, chart->moments[chart->count - 1].bytes));
}

/* Does the amount change over time? A picture of what stays the same would be a box. */
static bool changes(const struct sc_memory_moment *moments, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (moments[i].bytes != moments[0].bytes ||
            (moments[i].knows_used && moments[0].knows_used &&
             moments[i].used_bytes != moments[0].used_bytes))
            return true;
    return false;
}

/* Draws how much memory the process held over time, unless it never changed. */
void sc_memory_chart_draw(FILE *out, struct sc_scratch *scratch,
                          const struct sc_memory_place *place,
                          const struct sc_memory_moment *moments, size_t count, const char *id)
{
    struct chart chart = {out, scratch, moments, count, place->peak_bytes};
    bool has_used = false;
    for (size_t i = 0; i < count; i++) {
        uint64_t used = moments[i].knows_used ? moments[i].used_bytes : 0;
        uint64_t most = used > moments[i].bytes ? used : moments[i].bytes;
        chart.most = most > chart.most ? most : chart.most;
        has_used = has_used || moments[i].knows_used;
    }
    if (!changes(moments, count) || moments[0].time_ns >= moments[count - 1].time_ns ||
        chart.most == 0)
        return;
    fputs("<figure>", out);
    sc_drawing_begin(out, WIDTH, HEIGHT, id,
                     sc_scratch_print(scratch, "Memory of %s over time", place->name),
                     words_of(&chart, place));
    draw_own(&chart);
    draw_axes(&chart);
    draw_used(&chart);
    draw_legend(&chart, has_used);
    sc_drawing_end(out);
    fputs("</figure>\n", out);
}

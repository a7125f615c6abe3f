#include "report/command/formats/moment.h"

#include "report/command/formats/drawing.h"
#include "report/command/shown.h"

#include <string.h>

/* In units of the drawing. */
enum {
    WIDTH = 640,
    HEIGHT = 116,
    LEFT = 168,  /* of the time axis, right of the longest name of a stream */
    START = 180, /* of the first call */
    RIGHT = 620,
    HOST_Y = 44,
    STREAM_Y = 90,
    LABEL_BYTES = 44
};

/* Where things stand on the axis. */
struct places {
    int issue, begin, end, freed, event;
};

static bool is_in_capture(const struct sc_shown *hazard)
{
    return hazard->subject == SC_OF_CAPTURE || hazard->subject == SC_OF_NEIGHBOUR;
}

static bool is_advisory(const struct sc_shown *hazard)
{
    return json_is_true(json_object_get(hazard->record, "advisory"));
}

static struct places usual_places(const struct sc_shown *hazard)
{
    bool is_observed = strcmp(hazard->certainty, "observed") == 0;
    if (hazard->freed.api)
        return (struct places){.issue = START, .freed = 320, .event = 460};
    if (is_in_capture(hazard) && is_advisory(hazard)) /* a copy behind the capture and a launch */
        return (struct places){.issue = 540, .begin = START, .end = 400, .event = 290};
    if (is_in_capture(hazard))
        return (struct places){.issue = START, .begin = START, .end = 590, .event = 400};
    return (struct places){
        .issue = START, .begin = 215, .end = is_observed ? 560 : 360, .event = 400};
}

static int on_axis(double time, double first, double span)
{
    return START + (int)((RIGHT - START - 30) * (time - first) / span);
}

static struct places places_of(const struct sc_shown *hazard)
{
    double first = (double)hazard->copy.time_ns, event = (double)hazard->event.time_ns;
    double begin = (double)hazard->start_ns, end = (double)hazard->end_ns;
    double last = end > event ? end : event;
    bool is_in_order = first <= event && first <= begin && begin <= end && first < last;
    if (!hazard->is_timed || !is_in_order || hazard->freed.api)
        return usual_places(hazard);
    double span = last - first;
    return (struct places){
        .issue = START,
        .begin = on_axis(begin, first, span),
        .end = on_axis(end, first, span) + 2,
        .event = on_axis(event, first, span),
    };
}

static void put_text(FILE *out, struct sc_scratch *scratch, int x, int y, const char *more,
                     const char *text)
{
    sc_drawing_put_text(out, scratch, x, y, more, text, LABEL_BYTES);
}

static void put_lane(FILE *out, struct sc_scratch *scratch, int y, const char *name)
{
    fprintf(out, "<line class=\"lane\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LEFT, y, RIGHT,
            y);
    put_text(out, scratch, 4, y + 4, " class=\"soft\"", name);
}

static void put_mark(FILE *out, struct sc_scratch *scratch, int x, int y, const char *kind,
                     const char *text)
{
    bool is_late = x > (LEFT + RIGHT) / 2, is_below = y == HOST_Y;
    fprintf(out,
            "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>"
            "<circle class=\"%s\" cx=\"%d\" cy=\"%d\" r=\"4\"/>",
            kind, x, y, x, STREAM_Y + 12, kind, x, HOST_Y);
    put_text(out, scratch, is_late ? x - 6 : x + 6, is_below ? y + 18 : y - 2,
             is_late ? " text-anchor=\"end\"" : "", text);
}

static void put_bar(FILE *out, struct sc_scratch *scratch, const struct sc_shown *hazard,
                    const struct places *places)
{
    bool is_capture = is_in_capture(hazard);
    if (places->end == 0)
        return;
    fprintf(out, "<rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"18\" rx=\"3\"/>",
            places->begin, STREAM_Y - 9, places->end - places->begin);
    put_text(out, scratch, places->begin + 4, STREAM_Y + 4, "",
             is_capture ? "capture" : sc_scratch_print(scratch, "%s in flight", hazard->direction));
}

void sc_moment_draw(FILE *out, struct sc_scratch *scratch, const struct sc_shown *hazard)
{
    struct places places = places_of(hazard);
    if (hazard->subject == SC_OF_MEMORY || hazard->subject == SC_OF_LIMIT)
        return;
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"the calls along time\">",
            WIDTH, HEIGHT);
    put_lane(out, scratch, HOST_Y,
             sc_scratch_print(scratch, "thread %" JSON_INTEGER_FORMAT, hazard->event.thread));
    put_lane(out, scratch, STREAM_Y, sc_scratch_print(scratch, "stream %.14s", hazard->stream));
    put_bar(out, scratch, hazard, &places);
    put_mark(out, scratch, places.issue, HOST_Y, "issue", hazard->copy.api);
    if (hazard->freed.api)
        put_mark(out, scratch, places.freed, HOST_Y - 13, "issue", hazard->freed.api);
    put_mark(out, scratch, places.event, HOST_Y - 13, "early", hazard->event.api);
    fputs("</svg>", out);
}

/* Explains a hazard by the source around it: a sentence, the argument at fault on each side, and a
 * sketch of a change that would repair it. All of it is in the scratch of the model, as the hazard
 * is. */
#ifndef SC_REPORT_COMMAND_MISTAKE_H
#define SC_REPORT_COMMAND_MISTAKE_H

#include "report/command/model.h"
#include "report/command/shown.h"
#include "report/command/source_call.h"

#include <stdbool.h>
#include <stddef.h>

enum { SC_MISTAKE_PIECES_MAX = 16, SC_MISTAKE_HINT_MAX = 8 };

/* One side of the hazard (a call), with its source. */
struct sc_mistake_side {
    const struct sc_call *call; /* NULL: the hazard has none */
    struct sc_excerpt excerpt;  /* around the user's frame; no lines: the source is not known */
    size_t line;                /* the index of the frame's line in the excerpt */
    bool is_found;              /* the call was found in these lines */
    struct sc_source_call source;
    const char *memory; /* the argument that is the memory; NULL: not known */
    const char *stream; /* the argument that is the stream; NULL: not known */
    bool is_marked;     /* `mark` is set: the memory's argument, or another use of the memory */
    struct sc_source_span mark; /* in the excerpt */
};

/* A line of the sketch. */
struct sc_mistake_hint {
    char sign;     /* '+': added, '-': removed, ' ': unchanged, '.': lines are left out here */
    size_t number; /* 0: a line that is added */
    const char *text;
};

struct sc_mistake {
    /* words and source code alternately, beginning with words */
    const char *pieces[SC_MISTAKE_PIECES_MAX];
    size_t piece_count;
    struct sc_mistake_side event, copy, freed;
    struct sc_mistake_hint hint[SC_MISTAKE_HINT_MAX];
    size_t hint_count;                 /* 0: none */
    const char *hint_file, *hint_note; /* the file that it changes, and what its names mean */
};

/* Explains the hazard that the model has made last. */
struct sc_mistake sc_mistake_make(struct sc_model *model, const struct sc_shown *hazard);

#endif

/* Finds out what the source around a hazard says of the mistake: a sentence, the argument at fault
 * on each side, and a sketch of a change that would mend it. All of it is in the scratch of the
 * model, as the hazard is. */
#ifndef SC_REPORT_COMMAND_MISTAKE_H
#define SC_REPORT_COMMAND_MISTAKE_H

#include "report/command/model.h"
#include "report/command/shown.h"
#include "report/command/source_call.h"

#include <stdbool.h>
#include <stddef.h>

enum { SC_MISTAKE_PIECES_MAX = 16, SC_MISTAKE_HINT_MAX = 8 };

/* A side with its source. */
struct sc_mistake_side {
    const struct sc_call *call; /* NULL: the hazard has none */
    struct sc_excerpt excerpt;  /* around the user's frame; without lines where there is none */
    size_t line;                /* index of the frame's in it */
    bool is_found;              /* the call in these lines */
    struct sc_source_call source;
    const char *memory;         /* the argument that is the memory; NULL: not known */
    const char *stream;         /* the argument that is the stream; NULL: not known */
    bool is_marked;             /* the memory, or a use of it */
    struct sc_source_span mark; /* in the excerpt */
};

/* A line of the sketch. */
struct sc_mistake_hint {
    char sign;     /* '+', '-', ' ' of a line that stays, '.' where lines are left out */
    size_t number; /* 0: a line that is not there yet */
    const char *text;
};

struct sc_mistake {
    const char *pieces[SC_MISTAKE_PIECES_MAX]; /* words and code in turn, words first */
    size_t piece_count;
    struct sc_mistake_side event, copy, freed;
    struct sc_mistake_hint hint[SC_MISTAKE_HINT_MAX];
    size_t hint_count;                 /* 0: none */
    const char *hint_file, *hint_note; /* what it is of, and what its names mean */
};

/* Of the hazard that the model was asked for last. */
struct sc_mistake sc_mistake_make(struct sc_model *model, const struct sc_shown *hazard);

#endif

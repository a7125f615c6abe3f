/* Makes frames of stacks as they are shown: with names and source lines, and whose each is.
 *
 * Words come from the report or from files on this machine: none is fit for a terminal or a page
 * before the format has escaped it. They live as long as the scratch and the cache do. */
#ifndef SC_REPORT_COMMAND_FRAMES_SHOWN_H
#define SC_REPORT_COMMAND_FRAMES_SHOWN_H

#include "report/command/builds.h"
#include "report/command/frame_rules.h"
#include "report/command/namings.h"
#include "report/command/path_map.h"
#include "report/command/pieces.h"
#include "report/command/scratch.h"
#include "report/command/symbols.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sc_frame {
    /* a number that is the same in every stack which has the frame, and no other frame's */
    uint64_t id;
    /* the index of the frame in the report's stack, in which several may be inlined */
    size_t index;
    /* the report's frame with the function's name as its symbol, which others share; NULL: it is a
     * Python or an inlined frame, or has no name */
    json_t *named;
    const char *function; /* as its language writes it; NULL: not known */
    const char *symbol;   /* as the linker has it; NULL: of a Python frame, and not known */
    const char *module;   /* NULL: of a Python frame, and of code made at run time */
    const char *offset;   /* hexadecimal; NULL: of a Python frame */
    /* the build id of the module; "" if it had none, NULL if that is not known */
    const char *build_id;
    /* the naming of the module (namings.h), if the frame is the user's; NULL: not noted */
    struct sc_naming *naming;
    const char *file;   /* NULL: not known */
    const char *folder; /* what a relative `file` is below; NULL: not known */
    json_int_t line;    /* 0: not known */
    const char *words;  /* all that is known: "upload (/bin/train+0x12) at upload.c:31" */
    enum sc_frame_kind kind;
    bool is_python;
    bool is_inlined; /* into the next one */
    bool is_guessed; /* the name is from a file that may be of another build */
    bool is_own; /* the user's by function and module, or Python file: the same on every machine */
};

/* Innermost first. */
struct sc_frames {
    json_t *records; /* the array of the report */
    struct sc_frame *frames;
    size_t count;
    const struct sc_frame *user;    /* the innermost that is the user's; NULL: none */
    const struct sc_frame *library; /* the innermost of a library inside of it; NULL: none */
};

/* Keeps frames that were made, since hazards share most of theirs. All zero is empty. */
struct sc_frame_cache {
    struct sc_table table; /* by the record, of which readers share equal ones, and the builds */
    struct sc_frames_made *first;
    struct sc_scratch scratch;
    uint64_t ids;      /* given so far */
    size_t text_bytes; /* of the words that are kept */
};

/* What frames are made with. */
struct sc_frame_makers {
    struct sc_symbols *symbols;
    const struct sc_builds *builds; /* of the modules in the run that the frames are of */
    struct sc_namings *namings;     /* NULL: the frames are compared with no others */
    struct sc_frame_rules *rules;
    struct sc_path_map paths;
    bool with_lines; /* source lines and inlined functions are looked for */
    struct sc_frame_cache *cache;
};

/* Empties the cache if it has become large. What was made with it is void then. */
void sc_frames_shown_trim(struct sc_frame_cache *cache);
void sc_frames_shown_free(struct sc_frame_cache *cache);

/* Announces to the symbols the frames that are likely to be asked for: those that many lines of
 * reports have, in the builds of the last runs. */
void sc_frames_shown_announce(const struct sc_frame_makers *makers, const struct sc_pieces *pieces,
                              const struct sc_builds_list *list);

/* Makes the frames of `stack`, which should be an array of a report but may be anything. */
void sc_frames_shown(struct sc_frames *frames, struct sc_scratch *scratch,
                     const struct sc_frame_makers *makers, json_t *stack);

/* Drops what is inlined in the innermost frame, for the frame of a function that has returned: what
 * was inlined where it made the call may not be what has returned. */
void sc_frames_shown_drop_inlined(struct sc_frames *frames);

/* How many frames just before `end`, towards the innermost, are inside of an interpreter, libc or
 * the like. That is not known of code that was made at run time. */
size_t sc_frames_shown_runtimes(const struct sc_frames *frames, size_t end);

/* Where a frame is, in a few words: "upload.c:31 in upload", or "upload (train+0x12)". */
const char *sc_frames_shown_place(struct sc_scratch *scratch, const struct sc_frame *frame);

/* The file of a frame, as a path that can be opened: `file` itself, or behind its folder. */
const char *sc_frames_shown_path(struct sc_scratch *scratch, const struct sc_frame *frame);

#endif

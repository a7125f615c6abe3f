/* Prepares frames of stacks to be shown: with names, source lines, and whose code they run.
 *
 * Words come from the report or from files on this machine, so a format has to escape them before a
 * terminal or a page gets them. They live as long as the scratch and the cache. */
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
    /* unique: every stack that has the frame has this number, and no other frame has it */
    uint64_t id;
    /* the index of the record in the report's stack; several inlined frames may have the same */
    size_t index;
    /* the frame in the report with the function's name as its symbol; shared by equal frames. NULL:
     * a Python or an inlined frame, or one without a name */
    json_t *named;
    const char *function; /* as its language writes it; NULL: not known */
    const char *symbol;   /* the mangled name; NULL: a Python frame, or not known */
    const char *module;   /* NULL: a Python frame, or code that was made at run time */
    const char *offset;   /* hexadecimal; NULL: a Python frame */
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
    bool is_inlined; /* into the next frame */
    bool is_guessed; /* the name is from a file that may be another build of the module */
    /* the user's by its function and module, or by its Python file, so that it is so on every
     * machine */
    bool is_own;
};

/* Innermost first. */
struct sc_frames {
    json_t *records; /* the array of the report */
    struct sc_frame *frames;
    size_t count;
    const struct sc_frame *user; /* the innermost frame that is the user's; NULL: none */
    /* the innermost frame of a library that is inside of `user`; NULL: none */
    const struct sc_frame *library;
};

/* Keeps frames that were prepared, since hazards share most of theirs. All zero is empty. */
struct sc_frame_cache {
    struct sc_table table; /* by the record, of which readers share equal ones, and the builds */
    struct sc_frames_made *first;
    struct sc_scratch scratch;
    uint64_t ids;      /* given so far */
    size_t text_bytes; /* of the words that are kept */
};

/* What is needed to prepare frames. */
struct sc_frame_makers {
    struct sc_symbols *symbols;
    const struct sc_builds *builds; /* of the modules in the run that the frames are of */
    struct sc_namings *namings;     /* NULL: the frames are compared with no others */
    struct sc_frame_rules *rules;
    struct sc_path_map paths;
    bool with_lines; /* look for source lines and inlined functions */
    struct sc_frame_cache *cache;
};

/* Empties the cache if it has become large. Frames that were made with it are invalid then. */
void sc_frames_shown_trim(struct sc_frame_cache *cache);
void sc_frames_shown_free(struct sc_frame_cache *cache);

/* Notes with the symbols (symbols.h) which frames will probably be needed: those that many lines of
 * reports have, in the builds of the last runs. */
void sc_frames_shown_announce(const struct sc_frame_makers *makers, const struct sc_pieces *pieces,
                              const struct sc_builds_list *list);

/* Prepares the frames of `stack`, which should be an array of a report but may be anything. */
void sc_frames_shown(struct sc_frames *frames, struct sc_scratch *scratch,
                     const struct sc_frame_makers *makers, json_t *stack);

/* Drops frames that are inlined into the innermost one. For the frame of a function that has
 * returned: the function that was inlined where the call was made need not be the one that
 * returned. */
void sc_frames_shown_drop_inlined(struct sc_frames *frames);

/* Returns how many frames just before index `end`, towards the innermost, run code of an
 * interpreter, libc or the like. Code that was made at run time does not count. */
size_t sc_frames_shown_runtimes(const struct sc_frames *frames, size_t end);

/* Returns where a frame is, in a few words: "upload.c:31 in upload", or "upload (train+0x12)". */
const char *sc_frames_shown_place(struct sc_scratch *scratch, const struct sc_frame *frame);

/* Returns the frame's file as a path that can be opened: `file` itself, or `file` below its folder.
 */
const char *sc_frames_shown_path(struct sc_scratch *scratch, const struct sc_frame *frame);

#endif

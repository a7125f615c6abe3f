/* What a run holds of memory and who holds it, ready to be shown in every format: places (devices
 * and the host), the accounts of each, and what changed over time. For a run that did not end
 * normally this is what its last `memory` line says.
 *
 * Each number is at most SC_MEMORY_BYTES_MAX, whatever the report says. A format has to escape each
 * word before a terminal or a page gets it. */
#ifndef SC_REPORT_COMMAND_SHOWN_MEMORY_H
#define SC_REPORT_COMMAND_SHOWN_MEMORY_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SC_MEMORY_BYTES_MAX (UINT64_C(1) << 50)

struct sc_model;
struct sc_run;

enum { SC_MEMORY_HOST = -1, SC_MEMORY_DEVICES_MAX = 256 };

/* A call after which the driver had taken more memory for itself, or by which memory was made
 * accessible to other processes. */
struct sc_memory_call {
    const char *words; /* "200 MB behind cuCtxCreate_v4", "64 MB of device, by cuIpcGetMemHandle" */
    struct sc_frames stack;
};

/* A device, or page-locked memory of the host. */
struct sc_memory_place {
    const json_t *record; /* the place's object in the report, with `kinds`, `pools` and `graphs` */
    json_int_t device;    /* or SC_MEMORY_HOST */
    const char *uuid;     /* NULL: not known, or the host */
    const char *name;     /* "device 0", "host" */
    uint64_t bytes, peak_bytes;
    json_int_t peak_ns;                 /* 0: not known */
    bool knows_free, knows_unaccounted; /* the numbers below are known */
    uint64_t free_bytes, total_bytes;   /* of the whole device, for all processes */
    /* device memory that the process has and that nothing explains */
    uint64_t unaccounted_bytes, unaccounted_peak_bytes;
    uint64_t driver_bytes; /* what the process has, by the driver */
    struct sc_memory_call *steps, *exports, *contexts;
    size_t step_count, export_count, context_count;
};

struct sc_memory_account {
    const struct sc_memory_place *place;
    const char *kind, *owner, *api;
    const char *label; /* NULL: none */
    bool is_own;       /* it is added up in the sum of its place */
    bool is_rest;      /* all accounts that the report leaves out, without a stack */
    uint64_t bytes, blocks, peak_bytes, peak_blocks, ever_bytes, ever_blocks;
    /* references to physical memory that are not released; 0: none, or memory of another kind */
    uint64_t references;
    struct sc_frames stack;
    const char *words;     /* "PyTorch, pooled, by cuMemAllocAsync at train.py:8 in step" */
    struct sc_digest site; /* equal in every run in which the user's own functions made the call */
};

struct sc_memory {
    const json_t *record; /* NULL: it is not known what the run holds */
    bool is_line;         /* from the last `memory` line, and not from the summary */
    json_int_t time_ns;
    struct sc_memory_place *places; /* devices first */
    size_t place_count;
    /* those of the report, then one for the rest of each place */
    struct sc_memory_account *accounts;
    size_t account_count;
    json_int_t left_out; /* how many accounts the report leaves out */
    /* child processes that still run and have a device open; NULL: none, or not known */
    const char *children;
};

/* Prepares `member`, which should be a report's member `memory` but may be anything. All is in the
 * scratch or in the member. */
struct sc_memory sc_shown_memory_make(struct sc_scratch *scratch,
                                      const struct sc_frame_makers *makers, const json_t *member);

/* Does the same as sc_shown_memory_make for a record as in sc_reader.runs. */
struct sc_memory sc_shown_memory_of_entry(struct sc_scratch *scratch,
                                          const struct sc_frame_makers *makers,
                                          const json_t *entry);

/* Does the same as sc_shown_memory_of_entry for a run, which must be the one that the model has
 * prepared last; valid as long as the run is. */
struct sc_memory sc_shown_memory_of_run(struct sc_model *model, const struct sc_run *run);

/* Does the same as sc_shown_memory_of_run, for sums over processes and comparisons of them: a run
 * that went on as another program (exec) holds nothing, since the next run is of the same process.
 */
struct sc_memory sc_shown_memory_of_process(struct sc_model *model, const struct sc_run *run);

/* Adds to a sum, which stays at most INT64_MAX, the largest number of JSON here. */
static inline void sc_shown_memory_add(uint64_t *sum, uint64_t more)
{
    *sum = more < (uint64_t)INT64_MAX - *sum ? *sum + more : (uint64_t)INT64_MAX;
}

/* Returns all - part, or 0 if `part` is larger, as only a damaged report says. */
static inline uint64_t sc_shown_memory_less(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

/* Returns the title of a run: "rank 3: ./train (pid 7 on node)". */
const char *sc_shown_memory_title(struct sc_scratch *scratch, const struct sc_run *run);

/* Returns a frame in a word or two: its function, or else "train+0x12". */
const char *sc_shown_memory_frame(struct sc_scratch *scratch, const struct sc_frame *frame);

/* Returns the member `key` of a report, a number of bytes or blocks; 0 if it is missing or no such
 * number. */
uint64_t sc_shown_memory_bytes(const json_t *object, const char *key);

/* Returns true if there is, or was, any memory at the place. */
static inline bool sc_shown_memory_has_any(const struct sc_memory_place *place)
{
    return json_object_size(json_object_get(place->record, "kinds")) > 0 ||
           place->context_count > 0 || place->unaccounted_peak_bytes > 0;
}

/* Returns words for a library's own pool: "its own pool has 8 GB, 5 GB in use; 3 GB unused, which
 * torch.cuda.empty_cache() gives back". */
const char *sc_shown_memory_suballocator(struct sc_scratch *scratch, const json_t *suballocator);

/* Return a size as "1.5 GB"; and a change of it, with its sign. */
const char *sc_shown_memory_size(struct sc_scratch *scratch, uint64_t bytes);
const char *sc_shown_memory_change(struct sc_scratch *scratch, uint64_t before, uint64_t now);

#endif

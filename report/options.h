/* Reads SAFECOPY_OPTIONS into a struct of typed values, with defaults, and complains about bad
 * entries.
 *
 * One table in options.c is the source of the defaults, the parsing, the complaints, the text of
 * help=1 and the `options` in the report. No function allocates, locks, or uses stdio or the
 * locale. Every function is reentrant. */

/* Terms (docs/glossary.md):
 *   hazard: a mistake that may do harm: a code, the operation it hurts, and the event
 *   ledger: which memory the process has, and which call stack asked for it
 *   snapshot: a copy of a small source, which the device reads instead of the source
 */

#ifndef SC_REPORT_OPTIONS_H
#define SC_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_mode { SC_MODE_FIX, SC_MODE_REPORT, SC_MODE_OFF };
enum sc_capture_mode { SC_CAPTURE_REPAIR, SC_CAPTURE_REPORT };
enum sc_stacks_mode { SC_STACKS_FULL, SC_STACKS_SITE, SC_STACKS_NONE };
enum sc_device_mode { SC_DEVICE_AUTO, SC_DEVICE_OFF, SC_DEVICE_ON };
enum sc_kernels_mode { SC_KERNELS_OFF, SC_KERNELS_REPORT, SC_KERNELS_ORDER };
enum sc_cupti_mode { SC_CUPTI_AUTO, SC_CUPTI_OFF, SC_CUPTI_REQUIRE };
enum sc_guard_mode { SC_GUARD_OFF, SC_GUARD_ON, SC_GUARD_UFFD, SC_GUARD_MPROTECT };
enum sc_pinned_mode { SC_PINNED_HUGE, SC_PINNED_DRIVER };
enum sc_nvtx_mode { SC_NVTX_AUTO, SC_NVTX_OFF };

/* A path has this many bytes at most, its terminating NUL included. */
enum { SC_OPTIONS_PATH_SIZE = 4096, SC_OPTIONS_IGNORED_SIZE = 2048 };

/* The values of the options. The parser stores every choice as an int; the comment next to it names
 * its enum. */
struct sc_options {
    int mode; /* enum sc_mode */
    bool strict;
    int exitcode;
    int certainty; /* enum sc_certainty: the weakest hazard that strict counts */
    bool halt_on_error;
    char report_path[SC_OPTIONS_PATH_SIZE];  /* a pattern (path.h), or "none" */
    char suppressions[SC_OPTIONS_PATH_SIZE]; /* "" for none */
    int guard;                               /* enum sc_guard_mode */
    uint64_t guard_budget;                   /* hundredths of a percent; 0: no limit */
    uint64_t snapshot_max_bytes;             /* 0: never snapshot */
    uint64_t max_held_bytes;
    uint64_t stall_limit_ns;
    int capture; /* enum sc_capture_mode */
    int stacks;  /* enum sc_stacks_mode */
    bool python;
    int device;  /* enum sc_device_mode */
    int kernels; /* enum sc_kernels_mode: judged where device memory is watched */
    int cupti;   /* enum sc_cupti_mode */
    bool timeline;
    bool um;  /* page faults on managed memory are counted */
    int nvtx; /* enum sc_nvtx_mode */
    bool postmortem;
    bool memory;                /* the ledger of memory is kept */
    bool leaks;                 /* SC601 is looked for */
    uint64_t memory_every_ns;   /* 0: no `memory` lines but the last one */
    int memory_signal;          /* 0: no signal asks for a `memory` line */
    int pinned;                 /* enum sc_pinned_mode */
    uint64_t device_heap_bytes; /* 0: the driver's own limit stays; also of the next two */
    uint64_t stack_limit_bytes;
    uint64_t printf_fifo_bytes;
    int verbosity; /* 0 to 3 */
    bool help;

    /* What the parser has noted. */
    uint32_t given;                        /* bit i: row i of the table was set by an entry */
    bool misspells_strict;                 /* a bad entry may have been meant to set strict */
    unsigned ignored_count;                /* entries that were bad */
    char ignored[SC_OPTIONS_IGNORED_SIZE]; /* the bad entries, as many as fit, separated by ':' */
};

/* Called with each complaint about a bad entry: one line for people, without prefix and newline,
 * valid during the call. */
typedef void sc_options_complain(void *context, const char *line);

/* Sets every option to its default. */
void sc_options_defaults(struct sc_options *options);

/* Applies the entries of `text` ("key=value:key=value") to `options`. Of two entries for one key
 * the later one counts. A bad entry changes no option: `complain` is called for it, and `ignored`
 * keeps it. `text` and `complain` may be NULL. Returns the number of bad entries. */
unsigned sc_options_parse(struct sc_options *options, const char *text,
                          sc_options_complain *complain, void *context);

/* Reads options as sc_options_parse does, but for `safecopy run`, which ends at a bad entry instead
 * of ignoring it: the complaints do not say that the entry is ignored. */
unsigned sc_options_check(struct sc_options *options, const char *text,
                          sc_options_complain *complain, void *context);

/* Returns the value that sc_options_parse would give to the option `key`, which is a choice: the
 * index of its word. Needs some hundred bytes of stack, while struct sc_options has 10 KB. */
int sc_options_find_choice(const char *text, const char *key);

/* Returns the key of row `index` of the table of options, or NULL past the last row, so that
 * callers can list them. Writes the option's present value as an entry would give it, cut to
 * `size` bytes with its NUL. */
const char *sc_options_get(const struct sc_options *options, unsigned index, char *value,
                           size_t size);

/* Returns true if this is the key of an option. */
bool sc_options_has(const char *key, size_t length);

/* Returns true if an entry has set the option, and false if it has its default. The key must be
 * one of the table's. */
bool sc_options_is_given(const struct sc_options *options, const char *key);

/* Writes the table of help=1 to fd: each option with its values and what it does. */
void sc_options_print_table(int fd);

#endif

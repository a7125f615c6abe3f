/* Compares two sides by the sites in the code that allocated memory: an earlier line and the end of
 * a run; a baseline and these runs; or a typical process and one that stands out. */
#ifndef SC_REPORT_COMMAND_MEMORY_SITES_H
#define SC_REPORT_COMMAND_MEMORY_SITES_H

#include "report/command/scratch.h"
#include "report/command/shown_memory.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sc_memory_side { SC_MEMORY_BEFORE, SC_MEMORY_NOW, SC_MEMORY_SIDES };

/* What a site, a label or a place (a device or the host) holds on one side. */
struct sc_memory_amount {
    uint64_t bytes, blocks, peak_bytes;
};

struct sc_memory_site {
    struct sc_node node;
    struct sc_memory_site *next;
    const char *words;
    struct sc_memory_amount sides[SC_MEMORY_SIDES];
};

/* All zero is none. */
struct sc_memory_sites {
    struct sc_table table;
    struct sc_memory_site *first, *last;
    struct sc_scratch scratch;
    size_t runs[SC_MEMORY_SIDES]; /* how many runs were added to each side */
};

void sc_memory_sites_free(struct sc_memory_sites *sites);

/* Add what a run holds to one side: by the sites of its accounts, or by the labels of accounts that
 * have one. */
void sc_memory_sites_add(struct sc_memory_sites *sites, enum sc_memory_side side,
                         const struct sc_memory *memory);
void sc_memory_sites_add_labels(struct sc_memory_sites *sites, enum sc_memory_side side,
                                const struct sc_memory *memory);

/* Adds all runs to the side SC_MEMORY_NOW. */
void sc_memory_sites_add_all(struct sc_memory_sites *sites, struct sc_model *model);

/* sc_memory_site_write returns a site as --format json has it (docs/report.md); the caller decrefs
 * it. sc_memory_sites_read adds such a site to a side, and returns false if `written` is none. */
json_t *sc_memory_site_write(const struct sc_memory_sites *sites,
                             const struct sc_memory_site *site);
bool sc_memory_sites_read(struct sc_memory_sites *sites, enum sc_memory_side side,
                          const json_t *written);

/* Returns the sites whose bytes or blocks (or, with `with_peak`, bytes at the peak) differ between
 * the sides, the largest difference first. The array is in the scratch of the sites. */
struct sc_memory_site **sc_memory_sites_changed(struct sc_memory_sites *sites, bool with_peak,
                                                size_t *count);

/* Returns words for the difference at a site: "+10 MB, +2 blocks: WORDS", or "+10 MB at the peak"
 * if `with_peak` is set and those differ. */
const char *sc_memory_site_words(struct sc_scratch *scratch, const struct sc_memory_site *site,
                                 bool with_peak);

#endif

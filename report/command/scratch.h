/* Memory that is freed all at once: for the words and frames of one run or hazard while it is
 * shown.
 *
 * If there is no memory, the process ends, since nothing that is shown could be complete. */
#ifndef SC_REPORT_COMMAND_SCRATCH_H
#define SC_REPORT_COMMAND_SCRATCH_H

#include <stddef.h>

/* All zero is empty. */
struct sc_scratch {
    struct sc_scratch_block *blocks;
};

/* Returns `size` bytes of zeros, aligned for any object. */
void *sc_scratch_take(struct sc_scratch *scratch, size_t size);

__attribute__((format(printf, 2, 3))) char *sc_scratch_print(struct sc_scratch *scratch,
                                                             const char *format, ...);

/* Frees all of the memory except one block, which is used next. */
void sc_scratch_reset(struct sc_scratch *scratch);
void sc_scratch_free(struct sc_scratch *scratch);

#endif

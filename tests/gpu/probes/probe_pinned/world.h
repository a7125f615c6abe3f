/* What the sections of probe_pinned.c share: contexts, buffers, and what the driver says of them.
 */
#ifndef TESTS_GPU_PROBE_PINNED_WORLD_H
#define TESTS_GPU_PROBE_PINNED_WORLD_H

#include "../../asking.h"

#define HUGE_BYTES (2 * MB)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

extern CUcontext context_a;
extern CUcontext context_b; /* made by the section that needs it */
CUcontext make_context(void);

double now_us(void);

/* Fresh memory. `more` are further flags of mmap; MAP_PRIVATE unless they hold MAP_SHARED. */
char *map_as(size_t bytes, int more);
size_t whole_pages(size_t bytes);
size_t whole_huge(size_t bytes);

/* As interpose/memory/pinned.c does it: shared, as the driver's own memory is, and then made huge.
 */
char *map_shared_huge(size_t bytes);

/* Private memory, 2 MB aligned, huge pages wanted. */
char *map_huge(size_t bytes);

/* Tells the mapping that holds an address, and a few lines of its smaps. */
void show_mapping(const char *title, const void *address);

/* The letter of what every query says of an address in the buffer at `base`, of the `asked` bytes
 * that it was asked for; show_known() tells what the letters stand for. */
char letter_of(uint64_t address, uint64_t base, size_t asked);
void show_known(void);

/* The sections. */
void section_machine(void);
void section_attributes(void);
void section_contexts(void);
void section_fork(void);
void section_layout(void);
void section_times(void);
void section_mprotect(void);
void section_bandwidth(void);
void section_waits(void);
void section_memlock(void);
void section_errors(void);

#endif

/* Reads from an ELF file, by libelf, how it is run and how it may come to call CUDA.
 *
 * The file may be anybody's and malformed: what cannot be read is left out, and of what is large
 * only a part is looked at. Locks, threads: none. */
#ifndef SC_REPORT_COMMAND_DOCTOR_ELF_FACTS_H
#define SC_REPORT_COMMAND_DOCTOR_ELF_FACTS_H

#include "report/command/scratch.h"

#include <stdbool.h>

struct sc_elf_facts {
    bool is_elf;
    bool is_64_bit;
    int machine;     /* EM_X86_64 and the like */
    bool is_program; /* ET_EXEC or ET_DYN, so that it needs no further linking */
    bool is_position_independent;
    bool has_entry;
    bool has_code;          /* a segment to be loaded, as every program has */
    bool has_loader;        /* PT_INTERP: the program is linked dynamically */
    const char *loader;     /* its path */
    bool has_dynamic;       /* a dynamic section */
    bool calls_itself_pie;  /* DF_1_PIE */
    bool is_symbolic;       /* linked with -Bsymbolic */
    bool asks_to_interpose; /* DF_1_INTERPOSE */
    const char *cudart;     /* the libcudart that it is linked with, as it names it */
    const char *driver;     /* libcuda, likewise */
    bool has_cudart_inside; /* a runtime is linked statically */
    bool names_driver;      /* libcuda's name stands in its data: it opens the driver itself */
    bool has_device_code;   /* nvcc made some of it */
    bool defines_free;      /* an allocator is linked statically */
    bool opens_namespaces;  /* it calls dlmopen */
};

/* Reads the file that `fd` has open, from its start. Sets all of *facts, whose text is in the
 * scratch. */
void sc_elf_facts_read(struct sc_elf_facts *facts, struct sc_scratch *scratch, int fd);

#endif

/* Reads from an ELF file the names of the libraries that the loader opens together with it
 * (DT_NEEDED).
 *
 * Thread-safe; no lock; errno is kept. */
#ifndef SC_REPORT_NEEDED_H
#define SC_REPORT_NEEDED_H

#include <stddef.h>

/* Stores the name of needed library `index` (from 0) of the ELF file that `fd` has open. Returns 1;
 * 0: the file needs no more libraries; -ENAMETOOLONG: the name does not fit; -ENOEXEC: this process
 * cannot load the file. */
int sc_needed_read(int fd, unsigned index, char *name, size_t size);

#endif

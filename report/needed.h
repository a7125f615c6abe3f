/* The other libraries that an ELF file needs.
 *
 * Thread-safe, no lock, errno is kept.
 */
#ifndef SC_REPORT_NEEDED_H
#define SC_REPORT_NEEDED_H

#include <stddef.h>

/* Writes the name of needed library number `index`, from 0 on, of the ELF file that `fd` has open.
 * Needed is what the loader opens with the file. Returns 1; 0: the file needs no more;
 * -ENAMETOOLONG; -ENOEXEC: this process cannot load the file. */
int sc_needed_read(int fd, unsigned index, char *name, size_t size);

#endif

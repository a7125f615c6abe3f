/* What an ELF file needs of other libraries.
 *
 * Thread-safe, no lock, errno is kept.
 */
#ifndef SC_REPORT_NEEDED_H
#define SC_REPORT_NEEDED_H

#include <stddef.h>

/* Writes the name of the library that the file of `fd` names as number `index`, from 0 on, of those
 * that the loader opens with it. 1; 0: the file names no more; -ENAMETOOLONG; -ENOEXEC: this
 * process can load no such file. */
int sc_needed_read(int fd, unsigned index, char *name, size_t size);

#endif

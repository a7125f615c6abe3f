/* Opens an ELF file that a report, or another ELF file, has named.
 *
 * The file is mapped, and not copied into memory. */
#ifndef SC_REPORT_COMMAND_SYMBOLIZER_ELF_FILE_H
#define SC_REPORT_COMMAND_SYMBOLIZER_ELF_FILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

enum { SC_ELF_FILE_ID_SIZE = 2 * 64 + 1 };

struct sc_elf_file {
    char *path; /* NULL: no file is open */
    int fd;
    Elf *elf;
    bool has_segments;
    uint64_t first_address; /* the lowest address of its segments, as the file numbers addresses */
    char build_id[SC_ELF_FILE_ID_SIZE]; /* hexadecimal; "" if it has none */
};

/* Opens the file at `path`, which must be absolute. Returns false if there is no ELF file, or,
 * after a message on stderr, if it must not be opened: no regular file, one that the Linux kernel
 * makes up (kernels_files.h), or a sparse one. sc_elf_file_close must be called in either case. */
bool sc_elf_file_open(struct sc_elf_file *file, const char *path);
void sc_elf_file_close(struct sc_elf_file *file);

/* Returns true if a library that opens files without these checks may be given this path: there is
 * a regular file that the Linux kernel does not make up, or nothing. */
bool sc_elf_file_may_be_opened(const char *path);

/* Returns the section of that name; NULL: there is none with bytes. */
Elf_Scn *sc_elf_file_section(const struct sc_elf_file *file, const char *name);

/* Return whether the file has debug information, and whether it has a table of all symbols. */
bool sc_elf_file_has_debug_info(const struct sc_elf_file *file);
bool sc_elf_file_has_symbols(const struct sc_elf_file *file);

/* Returns how many bytes its compressed sections have when unpacked, as the file says. */
uint64_t sc_elf_file_unpacked_size(const struct sc_elf_file *file);

/* Returns true if the two are one file with two names. */
bool sc_elf_file_is_same(const struct sc_elf_file *file, const struct sc_elf_file *other);

/* Returns true if the file has this checksum, which a debug link to it (.gnu_debuglink) contains.
 */
bool sc_elf_file_has_checksum(const struct sc_elf_file *file, uint32_t checksum);

/* Writes the hexadecimal digits of `count` bytes into `text`, of SC_ELF_FILE_ID_SIZE; "" if they
 * cannot be a build id. */
void sc_elf_file_put_id(char *text, const void *bytes, size_t count);

#endif

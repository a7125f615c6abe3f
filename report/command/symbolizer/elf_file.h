/* Opens an ELF file that a report, or another ELF file, has named.
 *
 * Nothing of the file is copied into memory: what is read of it is a mapping of the file. */
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
    uint64_t first_address;             /* of the mapping, as the file numbers addresses */
    char build_id[SC_ELF_FILE_ID_SIZE]; /* hexadecimal; "" if it has none */
};

/* Opens the file at `path`, which must be absolute. False: there is no ELF file, or it must not be
 * opened (no regular file, one of the kernel's (kernels_files.h), or a sparse one), which stderr is
 * told. sc_elf_file_close is due either way. */
bool sc_elf_file_open(struct sc_elf_file *file, const char *path);
void sc_elf_file_close(struct sc_elf_file *file);

/* May a library that opens files without asking be given this path: is there a regular file that is
 * not the kernel's, or nothing? */
bool sc_elf_file_may_be_opened(const char *path);

/* The section of that name, NULL if there is none with bytes. */
Elf_Scn *sc_elf_file_section(const struct sc_elf_file *file, const char *name);

/* Has the file debug information; has it a table of all symbols? */
bool sc_elf_file_has_debug_info(const struct sc_elf_file *file);
bool sc_elf_file_has_symbols(const struct sc_elf_file *file);

/* How many bytes its compressed sections have when they are unpacked, as the file says. */
uint64_t sc_elf_file_unpacked_size(const struct sc_elf_file *file);

/* Whether the two are one file under two names. */
bool sc_elf_file_is_same(const struct sc_elf_file *file, const struct sc_elf_file *other);

/* Has the file this checksum, as a debug link to it (.gnu_debuglink) has it? */
bool sc_elf_file_has_checksum(const struct sc_elf_file *file, uint32_t checksum);

/* Puts the hexadecimal digits of `count` bytes into `text`, of SC_ELF_FILE_ID_SIZE; "" for an id
 * that is none. */
void sc_elf_file_put_id(char *text, const void *bytes, size_t count);

#endif

#define _GNU_SOURCE 1
#include "report/command/symbolizer/elf_file.h"

#include "report/command/elf_tables.h"
#include "report/command/regular_file.h"
#include "report/command/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 65536, NOTES_MAX_BYTES = 1024 * 1024, SPARSE_SHARE = 16 };
#define SPARSE_FROM_BYTES (INT64_C(64) << 20)

/* ---- opening ---- */

/* Is most of the file a hole? Files that a linker has written are not. If the file system does not
 * report how many blocks a file has, the file is not called sparse. */
static bool is_sparse(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_size > SPARSE_FROM_BYTES && status.st_blocks > 0 &&
           (int64_t)status.st_blocks * 512 < status.st_size / SPARSE_SHARE;
}

/* Is the path one that may be opened at all, whether a file is there or not? */
bool sc_elf_file_may_be_opened(const char *path)
{
    int fd = sc_regular_file_open_named(path);
    if (fd >= 0)
        close(fd);
    return fd != -EPERM && fd != -ENOTSUP && fd != -EISDIR;
}

/* Opens the file, unless it might be a trap: a device, a file of the Linux kernel's, one that is
 * nothing but holes. */
static bool open_file(struct sc_elf_file *file, const char *path)
{
    file->fd = path[0] == '/' ? sc_regular_file_open_named(path) : -ENOENT;
    if (file->fd == -ENOTSUP)
        sc_say("%s is no regular file, and is not read", path);
    else if (file->fd == -EPERM)
        sc_say("%s is below /proc, /sys or /dev, or leads there, and is not read", path);
    else if (file->fd >= 0 && is_sparse(file->fd))
        sc_say("%s is a sparse file, of which less than a sixteenth is there, and is not read",
               path);
    else
        return file->fd >= 0;
    return false;
}

/* ---- headers ---- */

/* Writes a build id as text. */
void sc_elf_file_put_id(char *text, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    text[0] = '\0';
    for (size_t i = 0; i < count && 2 * count < SC_ELF_FILE_ID_SIZE; i++)
        sprintf(text + 2 * i, "%02x", byte[i]);
}

/* Looks for the build id among the notes of one segment. Notes are read as in the library
 * (report/modules.c): they are aligned to four bytes, and the padding after the last one may be
 * missing. `left`: how many bytes of notes may still be read. */
static void find_id(struct sc_elf_file *file, const GElf_Phdr *header, uint64_t *left)
{
    uint64_t size = header->p_filesz < *left ? (header->p_filesz + 3) & ~(uint64_t)3 : *left;
    Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset, size, ELF_T_NHDR);
    GElf_Nhdr note;
    size_t name, description, at = 0;
    *left -= size;
    while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
        const char *bytes = data->d_buf;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(bytes + name, "GNU", 4) == 0)
            sc_elf_file_put_id(file->build_id, bytes + description, note.n_descsz);
        if (file->build_id[0] != '\0')
            return;
    }
}

/* Reads the build id and the lowest address that is loaded. */
static void read_segments(struct sc_elf_file *file)
{
    size_t count = 0;
    GElf_Phdr header;
    uint64_t lowest = UINT64_MAX, left = NOTES_MAX_BYTES;
    elf_getphdrnum(file->elf, &count);
    if (count > SEGMENTS_MAX)
        sc_say("%s has more than 65,536 segments; the rest is not read", file->path);
    for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
        if (!gelf_getphdr(file->elf, (int)i, &header))
            return;
        if (header.p_type == PT_LOAD && header.p_vaddr < lowest)
            lowest = header.p_vaddr;
        if (header.p_type == PT_NOTE && file->build_id[0] == '\0')
            find_id(file, &header, &left);
    }
    file->has_segments = lowest != UINT64_MAX;
    file->first_address = file->has_segments ? lowest & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1) : 0;
}

/* Opens an ELF file. Returns false if it is none, or may not be read; it is to be closed all the
 * same. */
bool sc_elf_file_open(struct sc_elf_file *file, const char *path)
{
    *file = (struct sc_elf_file){.fd = -1};
    elf_version(EV_CURRENT);
    if (!open_file(file, path))
        return false;
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    file->path = file->elf && elf_kind(file->elf) == ELF_K_ELF ? strdup(path) : NULL;
    if (!file->path)
        return false;
    read_segments(file);
    return true;
}

/* Closes the file; the struct is empty then. */
void sc_elf_file_close(struct sc_elf_file *file)
{
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct sc_elf_file){.fd = -1};
}

/* ---- sections ---- */

struct sought {
    const char *name;
    Elf_Scn *section;
};

/* Does the section have this name, and bytes in the file? (A callback.) */
static bool has_name(void *whom, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    struct sought *sought = whom;
    if (header->sh_type != SHT_NOBITS && strcmp(name, sought->name) == 0)
        sought->section = section;
    return sought->section;
}

/* Returns the section with this name; NULL: none. */
Elf_Scn *sc_elf_file_section(const struct sc_elf_file *file, const char *name)
{
    struct sought sought = {.name = name};
    sc_elf_tables_each_section(file->elf, has_name, &sought);
    return sought.section;
}

/* Does the file have DWARF, by which source lines are found? */
bool sc_elf_file_has_debug_info(const struct sc_elf_file *file)
{
    return sc_elf_file_section(file, ".debug_info") || sc_elf_file_section(file, ".zdebug_info");
}

bool sc_elf_file_has_symbols(const struct sc_elf_file *file)
{
    return sc_elf_file_section(file, ".symtab");
}

/* Returns the size that a section compressed in the old way will have: it begins with "ZLIB", and
 * the size in eight bytes, the highest first. */
static uint64_t old_unpacked_size(Elf_Scn *section)
{
    size_t size;
    uint64_t unpacked = 0;
    const unsigned char *bytes = sc_elf_tables_bytes(section, &size);
    for (size_t i = 4; size >= 12 && i < 12; i++)
        unpacked = unpacked << 8 | bytes[i];
    return unpacked;
}

/* Adds to the sum the size that a compressed section says it will have unpacked. Returns true,
 * which ends the walk, if the sum is too large for a number: a damaged file may say anything. */
static bool add_unpacked(void *whom, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    uint64_t *sum = whom, size = 0;
    GElf_Chdr compressed;
    if (header->sh_flags & SHF_COMPRESSED)
        size = gelf_getchdr(section, &compressed) ? compressed.ch_size : 0;
    else if (strncmp(name, ".zdebug", 7) == 0)
        size = old_unpacked_size(section);
    if (__builtin_add_overflow(*sum, size, sum))
        *sum = UINT64_MAX;
    return *sum == UINT64_MAX;
}

/* Returns how many bytes the compressed sections have when unpacked: a small file may take all
 * memory. */
uint64_t sc_elf_file_unpacked_size(const struct sc_elf_file *file)
{
    uint64_t sum = 0;
    sc_elf_tables_each_section(file->elf, add_unpacked, &sum);
    return sum;
}

/* ---- the file as such ---- */

/* Have the two the same file open? */
bool sc_elf_file_is_same(const struct sc_elf_file *file, const struct sc_elf_file *other)
{
    struct stat one, two;
    return fstat(file->fd, &one) == 0 && fstat(other->fd, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* Adds a byte to a checksum of .gnu_debuglink (CRC-32). */
static uint32_t checksum_byte(uint32_t checksum, unsigned char byte)
{
    checksum ^= byte;
    for (int bit = 0; bit < 8; bit++)
        checksum = checksum >> 1 ^ (checksum & 1 ? UINT32_C(0xedb88320) : 0);
    return checksum;
}

/* The checksum of each byte alone, of which that of many is made. */
static void fill_table(uint32_t *table)
{
    for (unsigned i = 0; i < 256; i++)
        table[i] = checksum_byte(0, (unsigned char)i);
}

/* Is this the check sum of the file's bytes? */
bool sc_elf_file_has_checksum(const struct sc_elf_file *file, uint32_t checksum)
{
    uint32_t table[256], found = UINT32_MAX;
    unsigned char block[64 * 1024];
    ssize_t count;
    fill_table(table);
    for (off_t at = 0; (count = pread(file->fd, block, sizeof block, at)) > 0; at += count)
        for (ssize_t i = 0; i < count; i++)
            found = found >> 8 ^ table[(found ^ block[i]) & 0xff];
    return count == 0 && ~found == checksum;
}

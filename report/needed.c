#define _GNU_SOURCE 1
#include "report/needed.h"

#include "report/file.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/poison.h"

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
#error "which machine is this in an ELF file?"
#endif

/* An ELF file that is being read, and its header. */
struct file {
    int fd;
    ElfW(Ehdr) header;
};

/* Reads `size` bytes of the file; false if there are fewer. */
static bool read_exactly(const struct file *file, void *bytes, size_t size, uint64_t offset)
{
    return sc_file_read_at(file->fd, bytes, size, offset) == (long)size;
}

/* Reads the file's header. Returns whether it is an ELF file that this process could load: of 64
 * bits and its own processor. */
static bool read_header(struct file *file)
{
    const ElfW(Ehdr) *header = &file->header;
    return read_exactly(file, &file->header, sizeof file->header, 0) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == OWN_MACHINE &&
           header->e_phentsize == sizeof(ElfW(Phdr));
}

/* Finds the first segment of the type (PT_DYNAMIC). Of the type PT_LOAD the one that holds
 * `address` in its bytes of the file is found, to turn an address into a place in the file. */
static bool find_segment(const struct file *file, uint32_t type, uint64_t address,
                         ElfW(Phdr) * found)
{
    for (unsigned i = 0; i < file->header.e_phnum; i++) {
        uint64_t at = file->header.e_phoff + i * sizeof *found;
        if (!read_exactly(file, found, sizeof *found, at))
            return false;
        if (found->p_type == type &&
            (type != PT_LOAD ||
             (address >= found->p_vaddr && address - found->p_vaddr < found->p_filesz)))
            return true;
    }
    return false;
}

/* Does the entry of the dynamic section name a library that the loader opens together with this
 * one? Those that a filter stands for count as well. */
static bool is_need(const ElfW(Dyn) * entry)
{
    return entry->d_tag == DT_NEEDED || entry->d_tag == DT_FILTER || entry->d_tag == DT_AUXILIARY;
}

/* Where a name of the dynamic section is found. */
struct names {
    uint64_t table;  /* address of the strings; 0: none */
    uint64_t offset; /* of the name in the table */
    bool found;
};

/* Finds the needed name number `index`, and the table of strings that it lies in, which may come
 * before or after it. Returns false if the file cannot be read as this machine's; names->found is
 * false past the last name. */
static bool find_name(const struct file *file, unsigned index, struct names *names)
{
    ElfW(Phdr) dynamic;
    ElfW(Dyn) entry;
    *names = (struct names){0};
    if (!find_segment(file, PT_DYNAMIC, 0, &dynamic))
        return false;
    for (uint64_t at = 0; at + sizeof entry <= dynamic.p_filesz; at += sizeof entry) {
        if (!read_exactly(file, &entry, sizeof entry, dynamic.p_offset + at))
            return false;
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_STRTAB)
            names->table = entry.d_un.d_ptr;
        if (is_need(&entry) && index-- == 0) {
            names->offset = entry.d_un.d_val;
            names->found = true;
        }
    }
    return true;
}

/* Reads the name out of the segment that holds the table of strings. Returns 1 or -errno. */
static int read_name(const struct file *file, const struct names *names, char *name, size_t size)
{
    ElfW(Phdr) segment;
    if (!find_segment(file, PT_LOAD, names->table, &segment))
        return -ENOEXEC;
    uint64_t at = segment.p_offset + (names->table - segment.p_vaddr) + names->offset;
    long count = sc_file_read_at(file->fd, name, size, at);
    if (count <= 0)
        return -ENOEXEC;
    return memchr(name, '\0', (size_t)count) ? 1 : -ENAMETOOLONG;
}

/* Stores the name of the needed library number `index`. The dynamic section is read anew each
 * time, so no memory is needed for it. Returns 1, 0 past the last, or -errno. */
int sc_needed_read(int fd, unsigned index, char *name, size_t size)
{
    struct file file = {.fd = fd};
    struct names names;
    if (!read_header(&file) || !find_name(&file, index, &names))
        return -ENOEXEC;
    return names.found ? read_name(&file, &names, name, size) : 0;
}

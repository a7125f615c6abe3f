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

struct file {
    int fd;
    ElfW(Ehdr) header;
};

static bool read_exactly(const struct file *file, void *bytes, size_t size, uint64_t offset)
{
    return sc_file_read_at(file->fd, bytes, size, offset) == (long)size;
}

/* Is it an ELF file that this process could load? */
static bool read_header(struct file *file)
{
    const ElfW(Ehdr) *header = &file->header;
    return read_exactly(file, &file->header, sizeof file->header, 0) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == OWN_MACHINE &&
           header->e_phentsize == sizeof(ElfW(Phdr));
}

/* Finds the first segment of the type. Of type PT_LOAD, only the one that holds `address` counts.
 */
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

/* Does the entry name a library that the loader opens with this one? */
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

/* Finds needed name number `index`. Returns false if the file cannot be read as this machine's. */
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

/* Reads the name out of the segment that holds the table of strings. */
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

/* Reads the dynamic section of the file up to the entry with this index. */
int sc_needed_read(int fd, unsigned index, char *name, size_t size)
{
    struct file file = {.fd = fd};
    struct names names;
    if (!read_header(&file) || !find_name(&file, index, &names))
        return -ENOEXEC;
    return names.found ? read_name(&file, &names, name, size) : 0;
}

#include "report/symtab.h"

#include "report/file.h"
#include "report/mapped_file.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "common/poison.h"

typedef ElfW(Ehdr) file_header;
typedef ElfW(Shdr) section_header;
typedef ElfW(Sym) symbol_entry;

enum { SYMBOLS_AT_ONCE = 128, HEAD_SIZE = 1024 };

/* Reads `size` bytes of the file; false if there are fewer. */
static bool read_exactly(int fd, void *bytes, size_t size, uint64_t offset)
{
    return sc_file_read_at(fd, bytes, size, offset) == (long)size;
}

/* Reads our own memory at `base` by /proc/self/mem: another thread may close the module meanwhile,
 * and reading it directly would raise SIGSEGV. */
static bool read_memory(uintptr_t base, void *bytes, size_t size)
{
    int memory = base != 0 ? sc_file_open_memory() : -1;
    if (memory < 0)
        return false;
    bool read = read_exactly(memory, bytes, size, base);
    sc_file_close(memory);
    return read;
}

/* Is the open file the module that is mapped at `base`, and one of 64 bits? A file that was
 * replaced after it was loaded (an update) would give wrong names. The first bytes of both are
 * compared: they have the headers and mostly the build id. *header becomes the file's. */
static bool is_what_is_loaded(int fd, uintptr_t base, file_header *header)
{
    char head[HEAD_SIZE], loaded[HEAD_SIZE];
    if (!read_exactly(fd, head, sizeof head, 0) || !read_memory(base, loaded, sizeof loaded))
        return false;
    memcpy(header, head, sizeof *header);
    return memcmp(head, loaded, sizeof head) == 0 && memcmp(head, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_shentsize == sizeof(section_header);
}

/* Returns the address at which the mapping begins, as the file's symbols count addresses; 0 for a
 * shared library. A frame's offset counts from there. */
static uintptr_t first_address(int fd, const file_header *header)
{
    ElfW(Phdr) program;
    uintptr_t lowest = UINTPTR_MAX;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (!read_exactly(fd, &program, sizeof program, header->e_phoff + i * sizeof program))
            return 0;
        if (program.p_type == PT_LOAD && program.p_vaddr < lowest)
            lowest = program.p_vaddr;
    }
    return lowest & ~((uintptr_t)getpagesize() - 1);
}

/* Finds the first section of this type. False: there is none, or the file cannot be read. */
static bool find_section(int fd, const file_header *header, uint32_t type, section_header *found)
{
    for (unsigned i = 0; i < header->e_shnum; i++) {
        uint64_t at = header->e_shoff + i * sizeof *found;
        if (!read_exactly(fd, found, sizeof *found, at))
            return false;
        if (found->sh_type == type)
            return true;
    }
    return false;
}

/* Is the symbol a function that this file has, and that contains the address? */
static bool is_function_at(const symbol_entry *symbol, uintptr_t address)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           address >= symbol->st_value && address - symbol->st_value < symbol->st_size;
}

/* Looks through the file's table for the function that contains the address, some entries at a
 * time, since the thread's stack may be small. */
static bool find_symbol(int fd, const section_header *table, uintptr_t address, symbol_entry *found)
{
    symbol_entry symbols[SYMBOLS_AT_ONCE];
    uint64_t left = table->sh_size / sizeof symbols[0];
    uint64_t at = table->sh_offset;
    while (left > 0) {
        size_t count = left < SYMBOLS_AT_ONCE ? (size_t)left : SYMBOLS_AT_ONCE;
        if (!read_exactly(fd, symbols, count * sizeof symbols[0], at))
            return false;
        for (size_t i = 0; i < count; i++) {
            if (is_function_at(&symbols[i], address)) {
                *found = symbols[i];
                return true;
            }
        }
        left -= count;
        at += count * sizeof symbols[0];
    }
    return false;
}

/* Reads the symbol's name out of the table of strings that belongs to the table of symbols
 * (sh_link). Returns false if it has none, or it does not fit. */
static bool read_name(int fd, const file_header *header, const section_header *table,
                      const symbol_entry *symbol, char *name, size_t size)
{
    section_header strings;
    uint64_t at = header->e_shoff + table->sh_link * sizeof strings;
    if (!read_exactly(fd, &strings, sizeof strings, at))
        return false;
    long count = sc_file_read_at(fd, name, size, strings.sh_offset + symbol->st_name);
    return count > 0 && name[0] != '\0' && memchr(name, '\0', (size_t)count);
}

/* Finds the name of the function that the frame is in. A call may be the last instruction of its
 * function, and the return address the first of the next one: so the byte before it is looked
 * up. */
static bool find_in(int fd, const struct sc_report_frame *frame, char *name, size_t size)
{
    file_header header;
    section_header table;
    symbol_entry symbol;
    if (!is_what_is_loaded(fd, frame->base, &header) ||
        !find_section(fd, &header, SHT_SYMTAB, &table))
        return false;
    uintptr_t call = first_address(fd, &header) + frame->offset - 1;
    return find_symbol(fd, &table, call, &symbol) &&
           read_name(fd, &header, &table, &symbol, name, size);
}

/* Finds the function of a frame for which the loader has no name: static functions are only in the
 * file's symbol table. */
bool sc_symtab_find(const struct sc_report_frame *frame, char *name, size_t size)
{
    char path[4096];
    const char *file = sc_mapped_file_of_module(frame->module, frame->base, path, sizeof path);
    int fd = file ? sc_file_open_regular(file) : -1;
    if (fd < 0)
        return false;
    bool found = find_in(fd, frame, name, size);
    sc_file_close(fd);
    return found;
}

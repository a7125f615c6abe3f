#include "ledger/cubin.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "common/poison.h"

enum { CALL_GRAPH = SHT_LOPROC + 1 }; /* pairs of symbols: who calls whom */

struct image {
    const char *bytes;
    size_t size;
};

/* Copies bytes out of the image, which may be at an unaligned address. Returns false if they are
 * not all in the image. */
static bool read_at(struct image image, uint64_t offset, void *to, size_t size)
{
    if (offset > image.size || size > image.size - offset)
        return false;
    memcpy(to, image.bytes + offset, size);
    return true;
}

/* Reads the image's ELF header. False: it is no ELF file of 64 bits, as device code is. */
static bool read_header(struct image image, Elf64_Ehdr *header)
{
    return read_at(image, 0, header, sizeof *header) &&
           memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_shentsize == sizeof(Elf64_Shdr);
}

/* Reads the header of the section with this index. False: there is none, or it is not within the
 * image. */
static bool read_section(struct image image, const Elf64_Ehdr *header, uint32_t index,
                         Elf64_Shdr *section)
{
    uint64_t offset = 0;
    return index < header->e_shnum &&
           !__builtin_add_overflow(header->e_shoff, (uint64_t)index * sizeof *section, &offset) &&
           read_at(image, offset, section, sizeof *section);
}

/* Finds the first section of this type. Returns false if there is none. */
static bool find_section(struct image image, const Elf64_Ehdr *header, uint32_t type,
                         Elf64_Shdr *section)
{
    for (uint32_t i = 0; i < header->e_shnum; i++)
        if (read_section(image, header, i, section) && section->sh_type == type)
            return true;
    return false;
}

/* Copies element `index` of a section that is a table of equal elements. */
static bool read_element(struct image image, const Elf64_Shdr *section, uint64_t index, void *to,
                         size_t size)
{
    uint64_t offset = 0;
    return index < section->sh_size / size &&
           !__builtin_add_overflow(section->sh_offset, index * size, &offset) &&
           read_at(image, offset, to, size);
}

/* Returns the symbol's name, a string in the section `names`. NULL: it is not in the image, or does
 * not end there. */
static const char *name_of(struct image image, const Elf64_Shdr *names, const Elf64_Sym *symbol)
{
    uint64_t offset = 0;
    if (__builtin_add_overflow(names->sh_offset, symbol->st_name, &offset) || offset >= image.size)
        return NULL;
    const char *name = image.bytes + offset;
    return memchr(name, '\0', image.size - offset) ? name : NULL;
}

/* Returns the index of the symbol `function` if the image uses it without defining it; else 0,
 * which is never a symbol's. */
static uint32_t find_import(struct image image, const Elf64_Shdr *symbols, const Elf64_Shdr *names,
                            const char *function)
{
    Elf64_Sym symbol;
    for (uint32_t i = 1; read_element(image, symbols, i, &symbol, sizeof symbol); i++) {
        const char *name = symbol.st_shndx == SHN_UNDEF ? name_of(image, names, &symbol) : NULL;
        if (name && strcmp(name, function) == 0)
            return i;
    }
    return 0;
}

/* Returns the name of the first function that calls the symbol of index `called`, by the table of
 * calls that NVIDIA's linker adds. NULL: it is not known. */
static const char *find_caller(struct image image, const Elf64_Ehdr *header,
                               const Elf64_Shdr *symbols, const Elf64_Shdr *names, uint32_t called)
{
    Elf64_Shdr calls;
    Elf64_Sym caller;
    uint32_t pair[2];
    if (!find_section(image, header, CALL_GRAPH, &calls))
        return NULL;
    for (uint64_t i = 0; read_element(image, &calls, i, pair, sizeof pair); i++)
        if (pair[0] && pair[1] == called &&
            read_element(image, symbols, pair[0], &caller, sizeof caller))
            return name_of(image, names, &caller);
    return NULL;
}

/* Does device code (a cubin) call `function` and not contain it, as malloc? Writes the name of the
 * first function that does to `caller`, "" if it is not known. A broken image counts as not doing
 * so. */
bool sc_cubin_imports(const void *bytes, size_t size_bytes, const char *function, char *caller,
                      size_t room)
{
    const struct image image = {bytes, size_bytes};
    Elf64_Ehdr header;
    Elf64_Shdr symbols, names;
    *caller = '\0';
    if (!read_header(image, &header) || !find_section(image, &header, SHT_SYMTAB, &symbols) ||
        !read_section(image, &header, symbols.sh_link, &names))
        return false;
    uint32_t import = find_import(image, &symbols, &names, function);
    const char *name = import ? find_caller(image, &header, &symbols, &names, import) : NULL;
    if (name)
        strncat(caller, name, room - 1);
    return import != 0;
}

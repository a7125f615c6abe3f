/* What a compiler of the driver's makes of a module's text, as far as its names go: an ELF image
 * with the symbols of kernels, of malloc where a kernel calls it, and who calls whom
 * (.nv.callgraph). The layout is that of nvcc 13.0. */
#include "cubin.h"

#include "ptx.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
    EM_CUDA_ = 190,
    SHT_CALLGRAPH = SHT_LOPROC + 1,
    ENTRY_BIT = 0x10, /* of a symbol's st_other: a kernel */
    KERNELS_MAX = 64,
    NAMES_BYTES = 8192,
    NAME_BYTES = 128,
};

struct image {
    Elf64_Ehdr header;
    Elf64_Shdr sections[5];
    Elf64_Sym symbols[KERNELS_MAX + 2];
    uint32_t calls[KERNELS_MAX][2];
    char names[NAMES_BYTES];
    unsigned symbol_count, call_count;
    size_t names_used;
};

static uint32_t add_name(struct image *image, const char *name)
{
    size_t length = strlen(name) + 1;
    if (image->names_used + length > NAMES_BYTES)
        return 0;
    memcpy(image->names + image->names_used, name, length);
    image->names_used += length;
    return (uint32_t)(image->names_used - length);
}

static uint32_t add_symbol(struct image *image, const char *name, bool is_defined)
{
    image->symbols[image->symbol_count] =
        (Elf64_Sym){.st_name = add_name(image, name),
                    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                    .st_other = is_defined ? ENTRY_BIT : 0,
                    .st_shndx = is_defined ? 4 : SHN_UNDEF};
    return image->symbol_count++;
}

static const char *next_kernel(const char *text, char name[NAME_BYTES])
{
    const char *at = strstr(text, ".entry");
    if (!at)
        return NULL;
    at += strlen(".entry");
    at += strspn(at, " \t\n");
    size_t length = strcspn(at, " \t\n({");
    length = length < NAME_BYTES ? length : NAME_BYTES - 1;
    memcpy(name, at, length);
    name[length] = '\0';
    return at;
}

static bool body_calls_malloc(const char *at)
{
    const char *end = strstr(at, ".entry");
    char *body = end ? strndup(at, (size_t)(end - at)) : strdup(at);
    bool calls = body && sim_ptx_calls(body, "malloc");
    free(body);
    return calls;
}

static void add_kernels(struct image *image, const char *text)
{
    char name[NAME_BYTES];
    uint32_t heap = sim_ptx_calls(text, "malloc") ? add_symbol(image, "malloc", false) : 0;
    for (const char *at = text; (at = next_kernel(at, name)) != NULL;) {
        if (image->symbol_count > KERNELS_MAX)
            return;
        uint32_t kernel = add_symbol(image, name, true);
        if (heap && body_calls_malloc(at)) {
            image->calls[image->call_count][0] = kernel;
            image->calls[image->call_count++][1] = heap;
        }
    }
}

static void lay_out(struct image *image)
{
#define AT(member) (offsetof(struct image, member))
    uint32_t strings = add_name(image, ".strtab"), symbols = add_name(image, ".symtab"),
             calls = add_name(image, ".nv.callgraph");
    image->header = (Elf64_Ehdr){.e_type = ET_EXEC,
                                 .e_machine = EM_CUDA_,
                                 .e_version = EV_CURRENT,
                                 .e_shoff = AT(sections),
                                 .e_ehsize = sizeof image->header,
                                 .e_shentsize = sizeof image->sections[0],
                                 .e_shnum = 5,
                                 .e_shstrndx = 1};
    memcpy(image->header.e_ident, ELFMAG, SELFMAG);
    image->header.e_ident[EI_CLASS] = ELFCLASS64;
    image->header.e_ident[EI_DATA] = ELFDATA2LSB;
    image->header.e_ident[EI_VERSION] = EV_CURRENT;
    image->sections[1] = (Elf64_Shdr){.sh_name = strings,
                                      .sh_type = SHT_STRTAB,
                                      .sh_offset = AT(names),
                                      .sh_size = image->names_used};
    image->sections[2] = (Elf64_Shdr){.sh_name = symbols,
                                      .sh_type = SHT_SYMTAB,
                                      .sh_offset = AT(symbols),
                                      .sh_size = image->symbol_count * sizeof image->symbols[0],
                                      .sh_link = 1,
                                      .sh_entsize = sizeof image->symbols[0]};
    image->sections[3] = (Elf64_Shdr){.sh_name = calls,
                                      .sh_type = SHT_CALLGRAPH,
                                      .sh_offset = AT(calls),
                                      .sh_size = image->call_count * sizeof image->calls[0],
                                      .sh_link = 2,
                                      .sh_entsize = sizeof image->calls[0]};
    image->sections[4] = (Elf64_Shdr){.sh_type = SHT_NOBITS};
#undef AT
}

char *sim_cubin_of_text(const char *text, size_t *bytes)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->names_used = 1;
    image->symbol_count = 1;
    add_kernels(image, text);
    lay_out(image);
    *bytes = sizeof *image;
    return (char *)(void *)image;
}

char *sim_cubin_copy(const void *what, size_t *bytes)
{
    const Elf64_Ehdr *header = what;
    if (memcmp(what, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_CUDA_)
        return NULL;
    *bytes = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    if (header->e_phnum && header->e_phoff + (size_t)header->e_phnum * header->e_phentsize > *bytes)
        *bytes = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
    char *copy = malloc(*bytes);
    return copy ? memcpy(copy, what, *bytes) : NULL;
}

#define _GNU_SOURCE 1
#include "report/command/doctor/elf_facts.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000 /* newer than some elf.h */
#endif

/* Of a file that claims to have more, the rest is not looked at. */
enum {
    DYNAMIC_MAX = 1 << 20,
    NAMES_MAX = 256 << 20,
    SYMBOLS_MAX = 256 << 20,
    DATA_MAX = 64 << 20,
    HEADERS_MAX = 4096,
};

struct file {
    struct sc_elf_facts *facts;
    struct sc_scratch *scratch;
    Elf *elf;
    int fd;
    uint64_t size;
};

/* ---- pieces of the file ---- */

/* The part that the file really has. */
static uint64_t within(const struct file *file, uint64_t offset, uint64_t count, uint64_t most)
{
    uint64_t there = offset < file->size ? file->size - offset : 0;
    count = count < there ? count : there;
    return count < most ? count : most;
}

static Elf_Data *chunk(const struct file *file, uint64_t offset, uint64_t count, Elf_Type type)
{
    return count > 0 ? elf_getdata_rawchunk(file->elf, (int64_t)offset, count, type) : NULL;
}

/* A string of the file, which the chunk need not end. */
static const char *take_text(const struct file *file, uint64_t offset, uint64_t count)
{
    Elf_Data *data = chunk(file, offset, within(file, offset, count, PATH_MAX), ELF_T_BYTE);
    if (!data || !data->d_buf)
        return NULL;
    return sc_scratch_print(file->scratch, "%.*s", (int)data->d_size, (const char *)data->d_buf);
}

static bool has_bytes(const struct file *file, uint64_t offset, uint64_t count, const char *word)
{
    char bytes[64 * 1024];
    size_t length = strlen(word), kept = 0;
    uint64_t end = offset + within(file, offset, count, DATA_MAX);
    while (offset < end) {
        uint64_t left = end - offset;
        size_t room = sizeof bytes - kept;
        ssize_t got =
            pread(file->fd, bytes + kept, left < room ? (size_t)left : room, (off_t)offset);
        if (got <= 0)
            return false;
        if (memmem(bytes, kept + (size_t)got, word, length))
            return true;
        offset += (uint64_t)got;
        kept += (size_t)got;
        size_t overlap = kept < length - 1 ? kept : length - 1;
        memmove(bytes, bytes + kept - overlap, overlap);
        kept = overlap;
    }
    return false;
}

/* ---- what the loader reads: segments and the dynamic section ---- */

typedef bool segment_function(const struct file *file, const GElf_Phdr *segment, void *context);

/* Until `visit` returns true. */
static bool any_segment(const struct file *file, segment_function *visit, void *context)
{
    size_t count = 0;
    if (elf_getphdrnum(file->elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count && i < HEADERS_MAX; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(file->elf, (int)i, &segment) && visit(file, &segment, context))
            return true;
    }
    return false;
}

struct place {
    uint64_t address, offset, room;
};

static bool is_at(const struct file *file, const GElf_Phdr *segment, void *context)
{
    struct place *place = context;
    (void)file;
    if (segment->p_type != PT_LOAD || place->address < segment->p_vaddr ||
        place->address - segment->p_vaddr >= segment->p_filesz)
        return false;
    uint64_t into = place->address - segment->p_vaddr;
    place->offset = segment->p_offset + into;
    place->room = segment->p_filesz - into;
    return place->offset >= into;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void note_needed(const struct file *file, const char *name)
{
    if (starts_with(name, "libcudart.so"))
        file->facts->cudart = sc_scratch_print(file->scratch, "%s", name);
    else if (starts_with(name, "libcuda.so"))
        file->facts->driver = sc_scratch_print(file->scratch, "%s", name);
}

static void note_flag(const struct file *file, const GElf_Dyn *entry)
{
    if (entry->d_tag == DT_SYMBOLIC ||
        (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_SYMBOLIC))
        file->facts->is_symbolic = true;
    if (entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_PIE)
        file->facts->calls_itself_pie = true;
    if (entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_INTERPOSE)
        file->facts->asks_to_interpose = true;
}

/* The names of the dynamic section. */
static Elf_Data *find_names(const struct file *file, Elf_Data *dynamic)
{
    struct place place = {0};
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++)
        if (entry.d_tag == DT_STRTAB)
            place.address = entry.d_un.d_ptr;
    if (!any_segment(file, is_at, &place))
        return NULL;
    return chunk(file, place.offset, within(file, place.offset, place.room, NAMES_MAX), ELF_T_BYTE);
}

static const char *name_at(const Elf_Data *names, uint64_t at)
{
    const char *bytes = names ? names->d_buf : NULL;
    return bytes && at < names->d_size && memchr(bytes + at, '\0', names->d_size - at) ? bytes + at
                                                                                       : NULL;
}

static void read_dynamic(const struct file *file, const GElf_Phdr *segment)
{
    if (file->facts->has_dynamic)
        return;
    uint64_t count = within(file, segment->p_offset, segment->p_filesz, DYNAMIC_MAX);
    Elf_Data *dynamic = chunk(file, segment->p_offset, count, ELF_T_DYN);
    Elf_Data *names = dynamic ? find_names(file, dynamic) : NULL;
    GElf_Dyn entry;
    file->facts->has_dynamic = true;
    for (int i = 0; dynamic && gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name = entry.d_tag == DT_NEEDED ? name_at(names, entry.d_un.d_val) : NULL;
        if (name)
            note_needed(file, name);
        note_flag(file, &entry);
    }
}

static bool read_segment(const struct file *file, const GElf_Phdr *segment, void *context)
{
    (void)context;
    if (segment->p_type == PT_INTERP) {
        file->facts->has_loader = true;
        file->facts->loader = take_text(file, segment->p_offset, segment->p_filesz);
    } else if (segment->p_type == PT_DYNAMIC) {
        read_dynamic(file, segment);
    } else if (segment->p_type == PT_LOAD) {
        file->facts->has_code = true;
    }
    return false;
}

/* ---- what a linker reads: sections, which a file need not have ---- */

/* libcuda's name, as what opens the driver by itself has it. */
static const char driver_name[] = "libcuda.so";

static bool names_driver(const struct file *file, const GElf_Phdr *segment, void *context)
{
    (void)context;
    return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) &&
           has_bytes(file, segment->p_offset, segment->p_filesz, driver_name);
}

static void note_undefined(struct sc_elf_facts *facts, const char *name)
{
    if (strcmp(name, "dlmopen") == 0)
        facts->opens_namespaces = true;
}

static void note_defined(struct sc_elf_facts *facts, const char *name)
{
    if (strcmp(name, "free") == 0)
        facts->defines_free = true;
    else if (strcmp(name, "cudaMemcpyAsync") == 0 || strcmp(name, "cudaGetDeviceCount") == 0)
        facts->has_cudart_inside = true;
}

static bool has_names(const struct file *file, size_t section)
{
    GElf_Shdr header;
    Elf_Scn *names = elf_getscn(file->elf, section);
    return names && gelf_getshdr(names, &header) && header.sh_size <= NAMES_MAX;
}

static void read_symbols(const struct file *file, Elf_Scn *section, const GElf_Shdr *header)
{
    bool fits = header->sh_size <= SYMBOLS_MAX && has_names(file, header->sh_link);
    Elf_Data *data = fits ? elf_getdata(section, NULL) : NULL;
    GElf_Sym symbol;
    for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(file->elf, header->sh_link, symbol.st_name);
        if (!name)
            continue;
        if (symbol.st_shndx == SHN_UNDEF)
            note_undefined(file->facts, name);
        else if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
            note_defined(file->facts, name);
    }
}

/* What has been found among the sections. A file that has more of a kind than a linker makes is not
 * read for all of them. */
struct found {
    bool symbols, dynamic_symbols, constants;
};

static void read_section(const struct file *file, Elf_Scn *section, const char *name,
                         struct found *found)
{
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header))
        return;
    bool *is_found = header.sh_type == SHT_SYMTAB ? &found->symbols : &found->dynamic_symbols;
    if ((header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) && !*is_found) {
        *is_found = true;
        read_symbols(file, section, &header);
    }
    if (starts_with(name, ".nv_fatbin"))
        file->facts->has_device_code = true;
    if (strcmp(name, ".rodata") != 0 || header.sh_type != SHT_PROGBITS || found->constants)
        return;
    found->constants = true;
    file->facts->names_driver = has_bytes(file, header.sh_offset, header.sh_size, driver_name);
}

static const char *section_name(const struct file *file, Elf_Scn *section, size_t names)
{
    GElf_Shdr header;
    const char *name =
        gelf_getshdr(section, &header) ? elf_strptr(file->elf, names, header.sh_name) : NULL;
    return name ? name : "";
}

/* Where no section has the program's constants, they are sought in all of it. */
static void read_sections(const struct file *file)
{
    size_t names = 0, count = 0;
    struct found found = {0};
    Elf_Scn *section = NULL;
    if (elf_getshdrstrndx(file->elf, &names) == 0 && has_names(file, names))
        while ((section = elf_nextscn(file->elf, section)) && count++ < HEADERS_MAX)
            read_section(file, section, section_name(file, section, names), &found);
    if (!found.constants)
        file->facts->names_driver = any_segment(file, names_driver, NULL);
}

/* ---- the file ---- */

static void read_file(const struct file *file)
{
    GElf_Ehdr header;
    if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
        return;
    file->facts->is_elf = true;
    file->facts->is_64_bit = gelf_getclass(file->elf) == ELFCLASS64;
    file->facts->machine = header.e_machine;
    file->facts->is_program = header.e_type == ET_EXEC || header.e_type == ET_DYN;
    file->facts->is_position_independent = header.e_type == ET_DYN;
    file->facts->has_entry = header.e_entry != 0;
    any_segment(file, read_segment, NULL);
    read_sections(file);
}

void sc_elf_facts_read(struct sc_elf_facts *facts, struct sc_scratch *scratch, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    *facts = (struct sc_elf_facts){0};
    elf_version(EV_CURRENT);
    Elf *elf = size > 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    if (!elf)
        return;
    const struct file file = {facts, scratch, elf, fd, (uint64_t)size};
    read_file(&file);
    elf_end(elf);
}

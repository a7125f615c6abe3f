#define _GNU_SOURCE 1
#include "report/command/doctor/elf_facts.h"

#include "report/command/elf_tables.h"

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

/* What a file claims to have beyond these is not looked at. */
enum {
    DYNAMIC_MAX = 1 << 20,
    NAMES_MAX = 256 << 20,
    DATA_MAX = 64 << 20,
    ALL_DATA_MAX = 256 << 20,
    HEADERS_MAX = 4096,
};

struct file {
    struct sc_elf_facts *facts;
    struct sc_scratch *scratch;
    Elf *elf;
    int fd;
    uint64_t size;
    uint64_t *data_left; /* of ALL_DATA_MAX: parts may overlap */
};

/* ---- pieces of the file ---- */

/* Returns how many of the `count` bytes at the offset the file really has, `most` at most: a
 * damaged file's headers may name any. */
static uint64_t within(const struct file *file, uint64_t offset, uint64_t count, uint64_t most)
{
    uint64_t there = offset < file->size ? file->size - offset : 0;
    count = count < there ? count : there;
    return count < most ? count : most;
}

/* Returns `count` bytes of the file at the offset as data of that type; NULL: there are none. */
static Elf_Data *chunk(const struct file *file, uint64_t offset, uint64_t count, Elf_Type type)
{
    return count > 0 ? elf_getdata_rawchunk(file->elf, (int64_t)offset, count, type) : NULL;
}

/* Returns a string of the file, which need not end with a NUL. */
static const char *take_text(const struct file *file, uint64_t offset, uint64_t count)
{
    Elf_Data *data = chunk(file, offset, within(file, offset, count, PATH_MAX), ELF_T_BYTE);
    if (!data || !data->d_buf)
        return NULL;
    return sc_scratch_print(file->scratch, "%.*s", (int)data->d_size, (const char *)data->d_buf);
}

/* Does the word stand in this part of the file? Reads in pieces that overlap, no more than a limit
 * of one part, and no more than another of all parts of the file together. */
static bool has_bytes(const struct file *file, uint64_t offset, uint64_t count, const char *word)
{
    char bytes[64 * 1024];
    size_t length = strlen(word), kept = 0;
    uint64_t most = *file->data_left < DATA_MAX ? *file->data_left : DATA_MAX;
    uint64_t end = offset + within(file, offset, count, most);
    *file->data_left -= end - offset;
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

/* Calls `visit` for each segment until it returns true, which is returned. */
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

/* Finds the place in the file that is loaded at an address. Returns false if it is not in this
 * segment. */
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

/* Records which library of CUDA the program is linked with. */
static void note_needed(const struct file *file, const char *name)
{
    if (starts_with(name, "libcudart.so"))
        file->facts->cudart = sc_scratch_print(file->scratch, "%s", name);
    else if (starts_with(name, "libcuda.so"))
        file->facts->driver = sc_scratch_print(file->scratch, "%s", name);
}

/* Notes what the program's dynamic section says of how its symbols are bound: some ways go past a
 * preloaded library. */
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

/* Finds the strings to which the dynamic section refers. */
static struct sc_elf_strings find_names(const struct file *file, Elf_Data *dynamic)
{
    struct place place = {0};
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++)
        if (entry.d_tag == DT_STRTAB)
            place.address = entry.d_un.d_ptr;
    bool is_there = any_segment(file, is_at, &place);
    uint64_t size = is_there ? within(file, place.offset, place.room, NAMES_MAX) : 0;
    Elf_Data *data = chunk(file, place.offset, size, ELF_T_BYTE);
    return sc_elf_tables_ended(data ? data->d_buf : NULL, data ? data->d_size : 0);
}

/* Reads what the loader would read: libraries that are needed, and flags. */
static void read_dynamic(const struct file *file, const GElf_Phdr *segment)
{
    if (file->facts->has_dynamic)
        return;
    uint64_t count = within(file, segment->p_offset, segment->p_filesz, DYNAMIC_MAX);
    Elf_Data *dynamic = chunk(file, segment->p_offset, count, ELF_T_DYN);
    struct sc_elf_strings names = {0};
    GElf_Dyn entry;
    if (dynamic)
        names = find_names(file, dynamic);
    file->facts->has_dynamic = true;
    for (int i = 0; dynamic && gelf_getdyn(dynamic, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name =
            entry.d_tag == DT_NEEDED ? sc_elf_tables_string(&names, entry.d_un.d_val) : NULL;
        if (name)
            note_needed(file, name);
        note_flag(file, &entry);
    }
}

/* Records what one segment of the file tells. Returns false, so that the walk over the segments
 * goes on. */
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

/* Does a read-only segment contain the name of the driver's library? Then the program opens it by
 * dlopen. */
static bool names_driver(const struct file *file, const GElf_Phdr *segment, void *context)
{
    (void)context;
    return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) &&
           has_bytes(file, segment->p_offset, segment->p_filesz, driver_name);
}

/* Notes a function that the program takes from libraries. dlmopen makes namespaces, in which a
 * preloaded library is not. */
static void note_undefined(struct sc_elf_facts *facts, const char *name)
{
    if (strcmp(name, "dlmopen") == 0)
        facts->opens_namespaces = true;
}

/* Records functions of the program that would pass the library by, or show a CUDA runtime within
 * it. */
static void note_defined(struct sc_elf_facts *facts, const char *name)
{
    if (strcmp(name, "free") == 0)
        facts->defines_free = true;
    else if (strcmp(name, "cudaMemcpyAsync") == 0 || strcmp(name, "cudaGetDeviceCount") == 0)
        facts->has_cudart_inside = true;
}

/* Notes what one symbol of the file tells: what the program needs, or defines itself. */
static void note_symbol(void *whom, const GElf_Sym *symbol, const char *name)
{
    struct sc_elf_facts *facts = whom;
    if (symbol->st_shndx == SHN_UNDEF)
        note_undefined(facts, name);
    else if (GELF_ST_TYPE(symbol->st_info) == STT_FUNC)
        note_defined(facts, name);
}

/* What there is once in a file. */
struct found {
    const struct file *file;
    bool constants;
};

/* Notes device code, and whether the program's constants name the driver's library: then the
 * program opens it itself, by dlopen. */
static bool read_section(void *whom, Elf_Scn *section, const GElf_Shdr *header, const char *name)
{
    struct found *found = whom;
    const struct file *file = found->file;
    (void)section;
    if (starts_with(name, ".nv_fatbin"))
        file->facts->has_device_code = true;
    if (strcmp(name, ".rodata") == 0 && header->sh_type == SHT_PROGBITS && !found->constants) {
        found->constants = true;
        file->facts->names_driver =
            has_bytes(file, header->sh_offset, header->sh_size, driver_name);
    }
    return false;
}

/* Reads symbols and sections. Where no section has the program's constants, they are sought in all
 * segments that are loaded and not written to. */
static void read_sections(const struct file *file)
{
    struct found found = {.file = file};
    sc_elf_tables_each_section(file->elf, read_section, &found);
    sc_elf_tables_each_symbol(file->elf, SHT_SYMTAB, note_symbol, file->facts);
    sc_elf_tables_each_symbol(file->elf, SHT_DYNSYM, note_symbol, file->facts);
    if (!found.constants)
        file->facts->names_driver = any_segment(file, names_driver, NULL);
}

/* ---- the file ---- */

/* Reads what the ELF file tells: what it is, its segments, then its sections. */
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

/* Reads the facts of the file that `fd` has open; all zero if it is no ELF file. data_left limits
 * how much is searched. */
void sc_elf_facts_read(struct sc_elf_facts *facts, struct sc_scratch *scratch, int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);
    *facts = (struct sc_elf_facts){0};
    elf_version(EV_CURRENT);
    Elf *elf = size > 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (!elf)
        return;
    uint64_t data_left = ALL_DATA_MAX;
    const struct file file = {facts, scratch, elf, fd, (uint64_t)size, &data_left};
    read_file(&file);
    elf_end(elf);
}

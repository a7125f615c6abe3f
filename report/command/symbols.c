#define _GNU_SOURCE 1
#include "report/command/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/command/perf_map.h"
#include "report/command/say.h"
#include "report/command/source_lines.h"
#include "report/command/table.h"

/* As libdw looks for debug files: in the folder of the module, in one below it, and by build id. */
#define USUAL_FOLDERS ":.debug:/usr/lib/debug"

struct symbol {
    uint64_t start, end;
    char *name;
};

struct module {
    struct sc_node node; /* by path */
    struct module *next;
    char *path;
    char *build_id; /* expected; "" if it has none, NULL if not known */
    bool loaded, contradicted;
    char *file; /* the one that ran, or its debug file; NULL if neither is found */
    struct sc_source_lines *lines;
    uint64_t first_address; /* of the mapping, as the file numbers addresses */
    struct symbol *symbols; /* sorted by start */
    size_t count, capacity;
};

struct sc_symbols {
    struct module *modules;
    struct module *last; /* that was asked for */
    struct sc_table table;
    char *folders; /* where files are looked for that are not at their paths; divided by colons */
    int64_t pid;   /* 0: no process was named, or several */
    bool several;
    struct sc_perf_map *made_at_run_time; /* by that process; NULL until somebody asks */
};

struct sc_symbols *sc_symbols_new(void)
{
    elf_version(EV_CURRENT);
    struct sc_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols)
        symbols->folders = strdup(USUAL_FOLDERS);
    if (symbols && symbols->folders)
        return symbols;
    free(symbols);
    return NULL;
}

static void free_module(struct module *module)
{
    for (size_t i = 0; i < module->count; i++)
        free(module->symbols[i].name);
    free(module->symbols);
    sc_source_lines_close(module->lines);
    free(module->file);
    free(module->build_id);
    free(module->path);
    free(module);
}

void sc_symbols_free(struct sc_symbols *symbols)
{
    while (symbols && symbols->modules) {
        struct module *module = symbols->modules;
        symbols->modules = module->next;
        free_module(module);
    }
    if (symbols) {
        sc_table_free(&symbols->table);
        sc_perf_map_close(symbols->made_at_run_time);
        free(symbols->folders);
    }
    free(symbols);
}

static struct module *look_up(struct sc_symbols *symbols, const char *path)
{
    struct sc_digester digester;
    sc_digest_begin(&digester);
    sc_digest_word(&digester, path);
    struct sc_digest digest = sc_digest_end(&digester);
    struct sc_node *node = sc_table_find(&symbols->table, &digest);
    if (node)
        return (struct module *)(void *)node;
    struct module *module = calloc(1, sizeof *module);
    char *copy = strdup(path);
    if (module)
        module->node.digest = digest;
    if (!module || !copy || !sc_table_add(&symbols->table, &module->node)) {
        free(module);
        free(copy);
        return NULL;
    }
    module->path = copy;
    module->next = symbols->modules;
    symbols->modules = module;
    return module;
}

static struct module *find_module(struct sc_symbols *symbols, const char *path)
{
    if (!symbols->last || strcmp(symbols->last->path, path) != 0)
        symbols->last = look_up(symbols, path);
    return symbols->last;
}

bool sc_symbols_add_folder(struct sc_symbols *symbols, const char *folder)
{
    char *folders = NULL;
    if (strchr(folder, ':') || asprintf(&folders, "%s:%s", folder, symbols->folders) < 0)
        return false;
    free(symbols->folders);
    symbols->folders = folders;
    return true;
}

void sc_symbols_expect(struct sc_symbols *symbols, const char *path, const char *build_id)
{
    struct module *module = find_module(symbols, path);
    if (!module)
        return;
    if (!module->build_id)
        module->build_id = strdup(build_id);
    else if (strcmp(module->build_id, build_id) != 0)
        module->contradicted = true;
}

void sc_symbols_expect_process(struct sc_symbols *symbols, int64_t pid)
{
    symbols->several = symbols->several || (symbols->pid != 0 && symbols->pid != pid);
    symbols->pid = symbols->several ? 0 : pid;
}

/* The build id among the notes of one segment, as hex, in `hex` of 2 * 64 + 1 bytes. */
static bool find_note(Elf *elf, const GElf_Phdr *header, char *hex)
{
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset, header->p_filesz,
                                          header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    GElf_Nhdr note;
    size_t name, description, at = 0;
    while (data && (at = gelf_getnote(data, at, &note, &name, &description)) > 0) {
        const unsigned char *bytes = data->d_buf;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || note.n_descsz > 64 ||
            memcmp(bytes + name, "GNU", 4) != 0)
            continue;
        for (size_t i = 0; i < note.n_descsz; i++)
            sprintf(hex + 2 * i, "%02x", bytes[description + i]);
        return true;
    }
    return false;
}

static void read_headers(Elf *elf, uint64_t *first_address, char *build_id)
{
    size_t count = 0;
    GElf_Phdr header;
    uint64_t lowest = UINT64_MAX;
    build_id[0] = '\0';
    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
        if (header.p_type == PT_LOAD && header.p_vaddr < lowest)
            lowest = header.p_vaddr;
        if (header.p_type == PT_NOTE && build_id[0] == '\0')
            find_note(elf, &header, build_id);
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    *first_address = lowest == UINT64_MAX ? 0 : lowest & ~(page - 1);
}

static void add_symbol(struct module *module, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF || !name ||
        name[0] == '\0')
        return;
    if (module->count == module->capacity) {
        size_t capacity = module->capacity == 0 ? 256 : 2 * module->capacity;
        void *grown = realloc(module->symbols, capacity * sizeof(struct symbol));
        if (!grown)
            return;
        module->symbols = grown;
        module->capacity = capacity;
    }
    char *copy = strndup(name, strcspn(name, "@")); /* the linker writes "name@@VERSION" */
    if (!copy)
        return;
    uint64_t size = symbol->st_size > 0 ? symbol->st_size : 1;
    module->symbols[module->count++] =
        (struct symbol){symbol->st_value, symbol->st_value + size, copy};
}

static void read_tables(struct module *module, Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        GElf_Sym symbol;
        if (!gelf_getshdr(section, &header) ||
            (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
            add_symbol(module, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
    }
}

enum found { ABSENT, OTHER_BUILD, FOUND };

static enum found read_elf(struct module *module, Elf *elf, const char *path)
{
    char build_id[2 * 64 + 1];
    uint64_t first_address;
    read_headers(elf, &first_address, build_id);
    if (module->build_id && strcmp(module->build_id, build_id) != 0)
        return OTHER_BUILD;
    if (!module->file) {
        module->file = strdup(path);
        module->first_address = first_address;
    }
    read_tables(module, elf);
    return FOUND;
}

/* Reads the tables of `path`, unless it is another build. */
static enum found read_file(struct module *module, const char *path)
{
    enum found found = ABSENT;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not on a FIFO */
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf && elf_kind(elf) == ELF_K_ELF)
        found = read_elf(module, elf, path);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return found;
}

static bool has_build_id(const struct module *module)
{
    return module->build_id && strlen(module->build_id) >= 4 &&
           module->build_id[strspn(module->build_id, "0123456789abcdef")] == '\0';
}

__attribute__((format(printf, 2, 3))) static bool find_at(struct module *module, const char *format,
                                                          ...)
{
    char *path = NULL;
    va_list words;
    va_start(words, format);
    int length = vasprintf(&path, format, words);
    va_end(words);
    bool found = length >= 0 && read_file(module, path) == FOUND;
    if (length >= 0)
        free(path);
    return found;
}

static bool find_in(struct module *module, const char *folder)
{
    const char *id = module->build_id;
    return find_at(module, "%s/.build-id/%.2s/%s.debug", folder, id, id + 2) ||
           find_at(module, "%s/.build-id/%.2s/%s", folder, id, id + 2) ||
           find_at(module, "%s/%s", folder, module->path) ||
           find_at(module, "%s/%s", folder, basename(module->path));
}

/* Only what has the build id is found: a file of that name may be of anything. */
static bool find_in_folders(const struct sc_symbols *symbols, struct module *module)
{
    char *folders = has_build_id(module) ? strdup(symbols->folders) : NULL;
    char *rest = folders;
    bool found = false;
    for (const char *folder; !found && (folder = strsep(&rest, ":")) != NULL;)
        found = folder[0] == '/' && find_in(module, folder);
    free(folders);
    return found;
}

static void find_file(const struct sc_symbols *symbols, struct module *module)
{
    enum found found = read_file(module, module->path);
    if (found != FOUND && !find_in_folders(symbols, module) && found == OTHER_BUILD)
        sc_say("%s is not the build that ran; its names are not used", module->path);
}

/* libdw finds them by more ways than by the build id. */
static void read_debug_file(const struct sc_symbols *symbols, struct module *module)
{
    Elf *file = module->lines ? sc_source_lines_debug_file(module->lines) : NULL;
    if (file)
        read_tables(module, file);
    else
        find_in_folders(symbols, module);
}

static int by_start(const void *a, const void *b)
{
    const struct symbol *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static void load(const struct sc_symbols *symbols, struct module *module)
{
    module->loaded = true;
    if (!module->contradicted)
        find_file(symbols, module);
    if (!module->file)
        return;
    module->lines = sc_source_lines_open(module->file, symbols->folders);
    read_debug_file(symbols, module);
    if (module->count > 0)
        qsort(module->symbols, module->count, sizeof(struct symbol), by_start);
}

/* Aliases start at one address, and a longer function may hold a shorter one: the last that starts
 * at or before the address and holds it is the closest. */
static const char *name_at(const struct module *module, uint64_t address)
{
    size_t low = 0, high = module->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t tries = 0; low > 0 && tries < 16; low--, tries++) {
        if (address < module->symbols[low - 1].end)
            return module->symbols[low - 1].name;
    }
    return NULL;
}

static struct module *loaded_module(struct sc_symbols *symbols, const char *path)
{
    struct module *module = find_module(symbols, path);
    if (module && !module->loaded)
        load(symbols, module);
    return module;
}

static const char *name_made_at_run_time(struct sc_symbols *symbols, uint64_t address)
{
    if (symbols->pid != 0 && !symbols->made_at_run_time)
        symbols->made_at_run_time = sc_perf_map_open(symbols->pid);
    if (!symbols->made_at_run_time)
        symbols->pid = 0;
    return symbols->pid != 0 ? sc_perf_map_find(symbols->made_at_run_time, address) : NULL;
}

const char *sc_symbols_find(struct sc_symbols *symbols, const char *path, uint64_t offset)
{
    if (!path)
        return name_made_at_run_time(symbols, offset);
    struct module *module = offset != 0 ? loaded_module(symbols, path) : NULL;
    return module ? name_at(module, module->first_address + offset - 1) : NULL;
}

size_t sc_symbols_places(struct sc_symbols *symbols, const char *path, uint64_t offset,
                         struct sc_source_place *places)
{
    struct module *module = offset != 0 ? loaded_module(symbols, path) : NULL;
    if (!module || !module->lines)
        return 0;
    return sc_source_lines_find(module->lines, module->first_address + offset - 1, places);
}

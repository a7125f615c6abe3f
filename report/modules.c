#define _GNU_SOURCE 1
#include "report/modules.h"

#include "common/checks.h"
#include "common/mutex.h"
#include "common/objects.h"
#include "common/text.h"
#include "report/report.h"
#include "track/closed_modules.h"
#include "track/python_codes.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/poison.h"

static char program_path[4096];

/* Stores the program's path, by which frames name it: the loader knows only argv[0]. */
void sc_modules_name_program(const char *path)
{
    struct sc_text text = sc_text_in(program_path, sizeof program_path);
    sc_text_put(&text, path);
}

/* Rounds a size in an ELF note up to 4, to which notes are aligned. Notes of a property are
 * aligned to 8, and so are their sizes, so they come out right. */
static size_t round_up(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* Looks for the build id among the notes of one segment in memory. A size that does not fit ends
 * the search, since a file may be damaged. lld and gold put all notes into one segment, whose
 * alignment is a property's. */
static void find_build_id(struct sc_module *module, const unsigned char *at, size_t size)
{
    ElfW(Nhdr) note;
    while (size >= sizeof note) {
        memcpy(&note, at, sizeof note);
        size_t name = sizeof note;
        size_t description = name + round_up(note.n_namesz);
        size_t end = description + note.n_descsz;
        if (description < name || end < description || end > size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(at + name, "GNU", 4) == 0) {
            module->build_id = at + description;
            module->build_id_length = note.n_descsz;
            return;
        }
        size_t next = description + round_up(note.n_descsz);
        if (next >= size) /* the last note may lack its padding */
            return;
        at += next;
        size -= next;
    }
}

/* Makes a pointer of an address, which the loader gives as a number. */
static const unsigned char *address_of(uintptr_t address)
{
    return (const unsigned char *)address; // NOLINT: the loader gives addresses as numbers
}

/* Collects what the report says of a module from its program headers: the build id, and where its
 * mapping starts, from which offsets of frames count. */
static struct sc_module describe_module(const struct dl_phdr_info *info)
{
    struct sc_module module = {.name = info->dlpi_name ? info->dlpi_name : ""};
    uintptr_t lowest = UINTPTR_MAX;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_vaddr < lowest)
            lowest = header->p_vaddr;
        if (header->p_type == PT_NOTE && !module.build_id)
            find_build_id(&module, address_of(info->dlpi_addr + header->p_vaddr), header->p_memsz);
    }
    if (lowest != UINTPTR_MAX)
        module.base = (info->dlpi_addr + lowest) & ~((uintptr_t)getpagesize() - 1);
    return module;
}

/* ---- those that were visited ---- */

enum { KNOWN_MAX = 2048, SLOTS = 2 * KNOWN_MAX };

static struct {
    uint64_t slots[SLOTS]; /* a hash table of digests of visited modules; 0: free */
    unsigned count;
    _Atomic uint64_t loaded; /* the loader's count of objects loaded, when all had been visited */
} known;

/* Adds bytes to a digest (a 64-bit hash, FNV-1a). */
static uint64_t digest(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ at[i]) * UINT64_C(0x100000001b3);
    return digest;
}

/* Returns a number that is the same for modules with the same path and build id, and never 0,
 * which marks a free slot. */
static uint64_t digest_module(const struct sc_module *module)
{
    uint64_t value = digest(UINT64_C(0xcbf29ce484222325), module->name, strlen(module->name) + 1);
    value = digest(value, module->build_id, module->build_id_length);
    return value != 0 ? value : 1;
}

/* Returns the slot that has the digest, or the free slot where it belongs. */
static uint64_t *slot_of(uint64_t value)
{
    size_t at = value % SLOTS;
    while (known.slots[at] != 0 && known.slots[at] != value)
        at = (at + 1) % SLOTS;
    return &known.slots[at];
}

/* What visit_module gets: whom to call for each new module, and where to note the loader's
 * count. */
struct visitor {
    sc_modules_visit *visit;
    void *context;
    uint64_t loaded;
};

/* Visits one loaded module (for sc_objects_visit) and passes it on unless it was passed before. It
 * is noted only after the visitor has taken it: one for which a line had no room comes again. A
 * full table takes no more. */
static int visit_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct visitor *visitor = context;
    struct sc_module module = describe_module(info);
    uint64_t value = digest_module(&module), *slot = slot_of(value);
    visitor->loaded = info->dlpi_adds;
    if (*slot == value || known.count == KNOWN_MAX)
        return 0;
    if (!visitor->visit(&module, visitor->context))
        return 1;
    *slot = value;
    known.count++;
    SC_ASSERT(known.count <= KNOWN_MAX);
    return 0;
}

/* Calls `visit` for the loaded modules that it has not had yet. If it took all, the loader's count
 * of modules loaded so far is kept, so that sc_modules_have_come need not walk the list. */
void sc_modules_each_new(sc_modules_visit *visit, void *context)
{
    struct visitor visitor = {visit, context, 0};
    if (sc_objects_visit(visit_module, &visitor) == 0)
        atomic_store_explicit(&known.loaded, visitor.loaded, memory_order_relaxed);
}

/* Visits the first module only: each visit is given how many modules the loader has ever
 * loaded. */
static int count_loaded(struct dl_phdr_info *info, size_t size, void *loaded)
{
    (void)size;
    *(uint64_t *)loaded = info->dlpi_adds;
    return 1;
}

/* Was a module loaded since all were visited? Asked after each line with frames, so it must be
 * cheap. */
bool sc_modules_have_come(void)
{
    uint64_t loaded = 0;
    sc_objects_visit(count_loaded, &loaded);
    return loaded != atomic_load_explicit(&known.loaded, memory_order_relaxed);
}

/* Forgets in a forked child which modules were visited: its own report has listed none. */
void sc_modules_forget(void)
{
    if (known.count > 0)
        memset(&known, 0, sizeof known);
}

/* Looks the address up as dladdr does. Counts the loader's lock (common/mutex.h): the reaper takes
 * it, too, when it names the stacks of a hazard. 0: no object has the address. */
static int find_symbol(const void *address, Dl_info *info)
{
    sc_mutex_count();
    int found = dladdr(address, info);
    sc_mutex_discount();
    return found;
}

/* Is it the program's own module? Linux tells where the program's headers are mapped. */
static bool is_program(const Dl_info *info)
{
    Dl_info program;
    const void *headers = address_of(getauxval(AT_PHDR));
    return headers && find_symbol(headers, &program) != 0 && program.dli_fbase == info->dli_fbase;
}

/* Finds module, offset and function of a return address. `pc` may also stand for a Python frame,
 * or lie in a module that was closed, which the library has noted by itself. A frame that nobody
 * knows has the address as its offset. */
void sc_report_symbolise(const void *pc, struct sc_report_frame *frame)
{
    int errno_before = errno;
    Dl_info info;
    *frame = (struct sc_report_frame){.module = NULL, .offset = (uintptr_t)pc, .symbol = NULL};
    frame->is_python = sc_python_codes_frame(pc, &frame->python);
    if (frame->is_python || sc_closed_modules_frame(pc, &frame->module, &frame->offset))
        return;
    /* pc - 1: a call that never returns may be the last instruction of its function, so that the
     * return address belongs to the next one. */
    if (pc && find_symbol((const char *)pc - 1, &info) != 0 && info.dli_fname) {
        frame->module = info.dli_fname;
        frame->base = (uintptr_t)info.dli_fbase;
        frame->offset = (uintptr_t)pc - (uintptr_t)info.dli_fbase;
        frame->symbol = info.dli_sname;
        if (program_path[0] != '\0' && is_program(&info))
            frame->module = program_path;
    }
    errno = errno_before;
}

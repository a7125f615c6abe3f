#include "interpose/entry/deep_bound.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/objects.h"
#include "interpose/base/exported.h"
#include "interpose/base/loader.h"
#include "interpose/base/object_range.h"

#include "common/poison.h"

__thread bool sc_deep_bound_is_due;

/* How many objects at the beginning of the loader's list are done. The list grows at its end, so
 * the number is valid as long as no object was closed since. */
static _Atomic unsigned long long objects_done, closed_then;

struct object {
    size_t index;              /* in the loader's list */
    unsigned long long closed; /* objects closed so far, by the loader's count */
    struct sc_object_range range;
    struct sc_object_range sealed; /* made read-only by the loader (RELRO) */
    char name[PATH_MAX];
    const ElfW(Sym) * symbols;
    const char *names;
    void *handle;
};

/* ---- the loader's list ---- */

static uintptr_t page_of(uintptr_t address)
{
    return address & -(uintptr_t)getpagesize();
}

/* Stores where the object lies in memory, and which part of it the loader has made read-only. */
static void note_segments(struct object *object, const struct dl_phdr_info *info)
{
    object->range = sc_object_range_in(info);
    object->sealed = (struct sc_object_range){0, 0};
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO)
            object->sealed =
                (struct sc_object_range){page_of(start), page_of(start + segment->p_memsz)};
    }
}

struct search {
    struct object *object;
    size_t left;
};

/* Describes one loaded object: the one at which the search's count reaches zero. Returns 1 there,
 * to end the walk. */
static int describe_if_reached(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    (void)size;
    if (search->left-- > 0)
        return 0;
    search->object->closed = info->dlpi_subs;
    search->object->name[0] = '\0';
    if (info->dlpi_name && strlen(info->dlpi_name) < PATH_MAX)
        strcpy(search->object->name, info->dlpi_name);
    note_segments(search->object, info);
    return 1;
}

/* Finds the object with object->index in the loader's list. Returns false if the list is shorter.
 */
static bool find_object(struct object *object)
{
    struct search search = {object, object->index};
    return sc_objects_visit(describe_if_reached, &search) != 0;
}

/* ---- one object ---- */

#if defined(__x86_64__)
enum { FUNCTION_SLOT = R_X86_64_JUMP_SLOT, DATA_SLOT = R_X86_64_GLOB_DAT, WORD = R_X86_64_64 };
#elif defined(__aarch64__)
enum {
    FUNCTION_SLOT = R_AARCH64_JUMP_SLOT,
    DATA_SLOT = R_AARCH64_GLOB_DAT,
    WORD = R_AARCH64_ABS64
};
#else
#error "what does this machine call its relocations?"
#endif

/* Is the slot filled with the plain address of a symbol? */
static bool is_of_function(const ElfW(Rela) * relocation)
{
    unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    return type == FUNCTION_SLOT || ((type == DATA_SLOT || type == WORD) && !relocation->r_addend);
}

static bool protect_sealed(const struct object *object, int protection)
{
    return sc_kernel_call(SYS_mprotect, object->sealed.start,
                          object->sealed.end - object->sealed.start, protection) == 0;
}

/* Makes calls through this slot go to `function`. */
static void store_into_slot(const struct object *object, uintptr_t slot, void *function)
{
    bool is_sealed = sc_object_range_holds(&object->sealed, slot);
    if (is_sealed && !protect_sealed(object, PROT_READ | PROT_WRITE))
        return;
    atomic_store_explicit((_Atomic(void *) *)slot, function, memory_order_release);
    if (is_sealed)
        protect_sealed(object, PROT_READ);
}

/* Does the slot lead to `function`, or is it not bound yet? An unbound slot leads into the object
 * itself, and the first call would bind it. Any other content was stored by the program, a tool, or
 * for another version, and stays. */
static bool is_bound_to(const struct object *object, uintptr_t slot, const void *function)
{
    uintptr_t held = atomic_load_explicit((_Atomic(uintptr_t) *)slot, memory_order_acquire);
    return held == (uintptr_t)function || sc_object_range_holds(&object->range, held);
}

/* Binds the slot to what dlsym returns while our hooks are in place, if the loader's result is
 * another. */
static void bind_slot(const struct object *object, uintptr_t slot, const char *name)
{
    void *found = sc_exported_by_us(name) ? sc_loader_symbol(object->handle, name) : NULL;
    void *wanted = found ? dlsym(object->handle, name) : NULL;
    if (wanted && wanted != found && is_bound_to(object, slot, found))
        store_into_slot(object, slot, wanted);
}

/* Searches the object's slots for functions that the library wraps: an object that was opened with
 * RTLD_DEEPBIND has found other ones in place of our wrappers. */
static void bind_each(const struct object *object, const ElfW(Rela) * first, size_t size_bytes,
                      uintptr_t base)
{
    for (size_t i = 0; i < size_bytes / sizeof *first; i++) {
        const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(first[i].r_info)];
        if (is_of_function(&first[i]) && symbol->st_shndx == SHN_UNDEF)
            bind_slot(object, base + first[i].r_offset, object->names + symbol->st_name);
    }
}

/* Binds all slots of an object. The loader has relocated the addresses in its dynamic section
 * already. */
static void bind_object(struct object *object, const struct link_map *map)
{
    const void *data = NULL, *calls = NULL;
    size_t data_bytes = 0, call_bytes = 0;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *address = (const void *)entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            object->symbols = address;
            break;
        case DT_STRTAB:
            object->names = address;
            break;
        case DT_RELA:
            data = address;
            break;
        case DT_RELASZ:
            data_bytes = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            calls = address;
            break;
        case DT_PLTRELSZ:
            call_bytes = entry->d_un.d_val;
            break;
        }
    }
    if (!object->symbols || !object->names)
        return;
    if (data)
        bind_each(object, data, data_bytes, map->l_addr);
    if (calls)
        bind_each(object, calls, call_bytes, map->l_addr);
}

/* ---- all of them ---- */

/* Binds one object of the list. A handle prevents that it is closed meanwhile; one can be had only
 * when the loader has finished with the object. The program itself has no name, and was not opened.
 */
static void bind_found(struct object *object)
{
    typedef int close_function(void *handle);
    struct link_map *map = NULL;
    object->symbols = NULL;
    object->names = NULL;
    object->handle = object->name[0] ? dlopen(object->name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!object->handle)
        return;
    if (dlinfo(object->handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_ld &&
        sc_object_range_holds(&object->range, (uintptr_t)map->l_ld))
        bind_object(object, map);
    SC_NEXT(close_function *, "dlclose")(object->handle);
}

/* Binds all objects that were opened since the last time. */
static void bind_new(void)
{
    struct object object = {.index = 0};
    if (!find_object(&object))
        return;
    unsigned long long closed = object.closed;
    if (closed == atomic_load(&closed_then))
        object.index = atomic_load(&objects_done);
    for (; find_object(&object); object.index++)
        bind_found(&object);
    if (object.closed != closed)
        return;
    atomic_store(&closed_then, closed);
    atomic_store(&objects_done, object.index);
}

/* Binds the objects that were loaded since the last time. */
void sc_deep_bound_bind(void)
{
    int error = errno;
    sc_deep_bound_is_due = false;
    bind_new();
    errno = error;
}

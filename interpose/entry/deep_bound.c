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

/* A loaded object whose references are looked through. */
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

/* Returns where the page of the address begins. */
static uintptr_t page_of(uintptr_t address)
{
    return address & -(uintptr_t)getpagesize();
}

/* Stores where the object lies in memory, and which part the loader has made read-only behind its
 * relocations (RELRO): the slots of calls may lie there. */
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

/* A visitor of loaded objects: describes the one that the search has counted down to, and ends the
 * visit there. A name that is too long counts as none. */
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

/* Describes the object at place object->index of the loader's list. False: the list has no such
 * place. The list is walked anew each time, as no object may be bound under the loader's lock. */
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

/* Does the relocation fill a slot with the plain address of a symbol, as for a function that the
 * object calls? One with an addend points into something. */
static bool is_of_function(const ElfW(Rela) * relocation)
{
    unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
    return type == FUNCTION_SLOT || ((type == DATA_SLOT || type == WORD) && !relocation->r_addend);
}

/* Changes the access to the part of the object that the loader has made read-only. False: Linux
 * refuses. */
static bool protect_sealed(const struct object *object, int protection)
{
    return sc_kernel_call(SYS_mprotect, object->sealed.start,
                          object->sealed.end - object->sealed.start, protection) == 0;
}

/* Makes the object's calls through this slot go to `function`. A slot in the read-only part is made
 * writable for that; where Linux refuses, it stays as it is. */
static void store_into_slot(const struct object *object, uintptr_t slot, void *function)
{
    bool is_sealed = sc_object_range_holds(&object->sealed, slot);
    if (is_sealed && !protect_sealed(object, PROT_READ | PROT_WRITE))
        return;
    atomic_store_explicit((_Atomic(void *) *)slot, function, memory_order_release);
    if (is_sealed)
        protect_sealed(object, PROT_READ);
}

/* Does the slot lead to `function`, as the loader binds it, or to nothing yet? An unbound slot
 * leads into the object itself, and the first call would bind it. Any other content was stored by
 * the program, a tool, or for another version, and stays. */
static bool is_bound_to(const struct object *object, uintptr_t slot, const void *function)
{
    uintptr_t held = atomic_load_explicit((_Atomic(uintptr_t) *)slot, memory_order_acquire);
    return held == (uintptr_t)function || sc_object_range_holds(&object->range, held);
}

/* Binds the slot of this function to the library's hook or wrapper, if dlsym with the object's
 * handle returns one in place of what the loader finds. An object opened with RTLD_DEEPBIND has
 * found that first, past the library. Names of which the library has no function are passed over
 * quickly. */
static void bind_slot(const struct object *object, uintptr_t slot, const char *name)
{
    void *found = sc_exported_by_us(name) ? sc_loader_symbol(object->handle, name) : NULL;
    void *wanted = found ? dlsym(object->handle, name) : NULL;
    if (wanted && wanted != found && is_bound_to(object, slot, found))
        store_into_slot(object, slot, wanted);
}

/* Goes through the object's relocations, and binds the slots of functions that it takes from other
 * objects to the library's hooks and wrappers. */
static void bind_each(const struct object *object, const ElfW(Rela) * first, size_t size_bytes,
                      uintptr_t base)
{
    for (size_t i = 0; i < size_bytes / sizeof *first; i++) {
        const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(first[i].r_info)];
        if (is_of_function(&first[i]) && symbol->st_shndx == SHN_UNDEF)
            bind_slot(object, base + first[i].r_offset, object->names + symbol->st_name);
    }
}

/* Finds the object's tables of symbols and relocations in its dynamic section, and binds the slots
 * that they name to the library's functions: the words through which the object calls other
 * objects, and those with addresses of their functions. The loader has relocated the section's
 * entries already. */
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

/* Binds the slots of one object of the loader's list. A handle keeps the object loaded meanwhile;
 * there is none for an object that the loader still opens, nor for the program, which has no name.
 * If another object lies there by now, nothing is done. */
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

/* Binds the slots of all objects that were opened since the last time. The list grows at its end,
 * so it goes on where it ended. After an object was closed it begins anew, and if that happens
 * meanwhile the next time does. */
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

/* Binds the objects that were opened since the last time to the library's functions: this thread
 * has opened one with RTLD_DEEPBIND, and now looks something up. errno stays, as the program's call
 * must not change it. */
void sc_deep_bound_bind(void)
{
    int error = errno;
    sc_deep_bound_is_due = false;
    bind_new();
    errno = error;
}

#include "interpose/base/exported.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/poison.h"

/* The table of DT_GNU_HASH. `words` holds a Bloom filter, then the buckets, then the chains. */
struct hash_table {
    uint32_t buckets;
    uint32_t first; /* the first symbol that is in a chain */
    uint32_t filter_words;
    uint32_t filter_shift;
    uint32_t words[];
};

struct symbols {
    const struct hash_table *hashes;
    const ElfW(Sym) * symbols;
    const char *names;
};

/* Returns the address in an entry of an object's dynamic section. The loader adds the load address
 * to these entries, except in the object that Linux provides (vDSO): there the entry is smaller
 * than the load address, which is added here. */
static const void *pointer_to(const struct link_map *object, const ElfW(Dyn) * entry)
{
    uintptr_t address = entry->d_un.d_ptr;
    return (const void *)(address < object->l_addr ? object->l_addr + address : address);
}

/* Finds an object's symbol tables, those that the dynamic linker uses, in its dynamic section. A
 * member is NULL if the object has no such table. */
static struct symbols symbols_of(const struct link_map *object)
{
    struct symbols found = {NULL, NULL, NULL};
    for (const ElfW(Dyn) *entry = object->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            found.hashes = pointer_to(object, entry);
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = pointer_to(object, entry);
        if (entry->d_tag == DT_STRTAB)
            found.names = pointer_to(object, entry);
    }
    return found;
}

/* Returns the hash of DT_GNU_HASH. */
static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* Looks the name up as the loader does: its hash selects a bucket, which has the index of the first
 * symbol of a chain. A chain has the symbols' hashes, whose lowest bit only says whether the chain
 * ends there. NULL: there is no such symbol. */
static const ElfW(Sym) * find_symbol(const struct symbols *in, const char *name)
{
    enum { LAST_OF_CHAIN = 1 };
    const struct hash_table *table = in->hashes;
    const uint32_t *buckets =
        table->words + table->filter_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + table->buckets;
    uint32_t hash = gnu_hash(name);
    uint32_t i = table->buckets ? buckets[hash % table->buckets] : 0;
    if (i < table->first) /* the bucket is empty */
        return NULL;
    for (;; i++) {
        uint32_t found = chains[i - table->first];
        if ((found | LAST_OF_CHAIN) == (hash | LAST_OF_CHAIN) &&
            sc_exported_is(in->names + in->symbols[i].st_name, name))
            return &in->symbols[i];
        if (found & LAST_OF_CHAIN)
            return NULL;
    }
}

/* Finds the symbol in the object; NULL: the object lacks it, or has only the old kind of hash table
 * (DT_HASH), which is not read. */
static const ElfW(Sym) * find_symbol_of(const struct link_map *object, const char *name)
{
    struct symbols in = symbols_of(object);
    return in.hashes && in.symbols && in.names ? find_symbol(&in, name) : NULL;
}

/* Returns the address of what the loaded object exports by that name; NULL: nothing. */
static void *exported_by(const struct link_map *object, const char *name)
{
    const ElfW(Sym) *found = find_symbol_of(object, name);
    return found ? (void *)(object->l_addr + found->st_value) : NULL;
}

/* Finds a symbol in the object that a visitor of dl_iterate_phdr was given, and its size. No
 * function of the loader is called, whose lock the visit may hold. */
void *sc_exported_in(const struct dl_phdr_info *object, const char *name, size_t *size_bytes)
{
    struct link_map map = {.l_addr = object->dlpi_addr};
    for (size_t i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            map.l_ld = (ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    const ElfW(Sym) *found = find_symbol_of(&map, name);
    *size_bytes = found ? found->st_size : 0;
    return found ? (void *)(object->dlpi_addr + found->st_value) : NULL;
}

/* Returns the loader's record of this library, by which its neighbours in load order are found. It
 * is looked up once; two threads that do so at once find the same. */
static const struct link_map *our_map(void)
{
    static _Atomic(struct link_map *) known;
    struct link_map *found = atomic_load_explicit(&known, memory_order_relaxed);
    Dl_info where;
    if (!found && dladdr1((void *)our_map, &where, (void **)&found, RTLD_DL_LINKMAP))
        atomic_store_explicit(&known, found, memory_order_relaxed);
    return found;
}

/* Returns the address of this library's own function of that name; NULL: it exports none. */
void *sc_exported_by_us(const char *name)
{
    return exported_by(our_map(), name);
}

/* Finds what another object exports by that name: first those behind this library in load order, as
 * RTLD_NEXT does; then those before it, since a library that was opened late stands last. */
void *sc_exported_by_another(const char *name)
{
    void *found = NULL;
    for (const struct link_map *other = our_map()->l_next; other && !found; other = other->l_next)
        found = exported_by(other, name);
    for (const struct link_map *other = our_map()->l_prev; other && !found; other = other->l_prev)
        found = exported_by(other, name);
    return found;
}

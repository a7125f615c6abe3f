#include "interpose/base/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/maps_reader.h"
#include "common/peek.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"

#include "common/poison.h"

enum { TAIL = 256 };

/* Opens /proc/self/maps, by a system call: the library's hooks of open are not entered, and a
 * handler of a fault may call this. */
static int open_mappings(void)
{
    return (int)sc_kernel_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

/* Closes what open_mappings has opened; -1: nothing. */
static void close_mappings(int fd)
{
    if (fd >= 0)
        sc_kernel_call(SYS_close, fd);
}

/* ---- one mapping at a time ----
 *
 * PROCMAP_QUERY of <linux/fs.h>, which older systems do not have. */

enum { IS_READABLE = 1, IS_WRITABLE = 2, IS_EXECUTABLE = 4 };

struct query {
    uint64_t size;
    uint64_t query_flags;
    uint64_t address;
    uint64_t start, end; /* results from here on */
    uint64_t flags;
    uint64_t others[3];
    uint32_t device[2];
    uint32_t name_size, build_id_size; /* 0: not wanted */
    uint64_t name, build_id;
};

#define QUERY _IOWR('f', 17, struct query)

/* Finds the mapping that contains the address, by ioctl(PROCMAP_QUERY) on /proc/self/maps. Returns
 * 0, or an errno. ENOENT: nothing is mapped there; another one: this Linux lacks the ioctl. */
static int query_mapping(int fd, uintptr_t address, struct query *answer)
{
    *answer = (struct query){.size = sizeof *answer, .address = address};
    return (int)-sc_kernel_call(SYS_ioctl, fd, QUERY, answer);
}

/* Is the mapping plain memory, as malloc's is: readable and writable, and not executable? */
static bool is_plain(const struct query *mapping)
{
    return (mapping->flags & (IS_READABLE | IS_WRITABLE | IS_EXECUTABLE)) ==
           (IS_READABLE | IS_WRITABLE);
}

/* ---- all of them ---- */

struct mapping {
    uintptr_t start, end;
    char access[4];  /* "rwxp" */
    char tail[TAIL]; /* the rest of the line, cut off at its end */
};

/* Reads the rest of a line of /proc/self/maps; what does not fit is dropped. */
static void read_line(struct sc_maps_reader *reader, char *line, size_t size)
{
    size_t used = 0;
    for (int c = sc_maps_reader_next(reader); c != '\n' && c != -1; c = sc_maps_reader_next(reader))
        if (used + 1 < size)
            line[used++] = (char)c;
    line[used] = '\0';
}

/* Reads the next line of /proc/self/maps: "start-end rwxp offset device inode path". False: there
 * is no further line. */
static bool next_mapping(struct sc_maps_reader *reader, struct mapping *mapping)
{
    if (sc_maps_reader_hex(reader, &mapping->start) != '-' ||
        sc_maps_reader_hex(reader, &mapping->end) != ' ')
        return false;
    for (unsigned i = 0; i < sizeof mapping->access; i++)
        mapping->access[i] = (char)sc_maps_reader_next(reader);
    read_line(reader, mapping->tail, sizeof mapping->tail);
    return true;
}

/* ---- plain memory ----
 *
 * Plain memory may be a thread's stack if pages without access lie below it. Arenas of glibc may
 * have such pages below them, too, but they begin at a multiple of their size, with a head that is
 * recognised. Memory right above a stack cannot be distinguished from the stack. */

enum kind { NOT_PLAIN, PLAIN, PLAIN_STACK };

static const uintptr_t ARENA_BYTES = (uintptr_t)64 << 20;

/* The first members of glibc's heap_info (malloc/arena.c), with which each part of an arena begins.
 * They have not changed since 2.28. */
struct arena_head {
    uintptr_t arena;    /* the arena's record, after the head of its first part */
    uintptr_t previous; /* the part before this one, or 0 */
    size_t size_bytes;
    size_t open_bytes; /* so many of them are readable and writable */
};

/* Does a part of an arena of glibc's malloc begin there? It lies above pages without access, as a
 * thread's stack does, and must not be taken for one. A stack may begin at such an address, too; it
 * then has zeros there, or what a program left. */
static bool is_arena(uintptr_t start)
{
    struct arena_head head;
    if (start % ARENA_BYTES != 0 || !sc_peek_anyhow(&head, start, sizeof head))
        return false;
    bool is_chained =
        head.previous ? head.previous % ARENA_BYTES == 0 : head.arena - start <= 2 * sizeof head;
    return is_chained && head.arena > ARENA_BYTES && head.size_bytes > 0 &&
           head.size_bytes <= head.open_bytes && head.open_bytes <= ARENA_BYTES;
}

/* Tells a possible stack from other plain memory that begins at `start`. `closed_below`: the
 * mapping that ends there has no access, as the pages below a thread's stack. */
static enum kind kind_of(uintptr_t start, bool closed_below)
{
    return closed_below && !is_arena(start) ? PLAIN_STACK : PLAIN;
}

/* The run of adjacent plain mappings that the last reading of all mappings has found, for versions
 * of Linux without PROCMAP_QUERY. A sequence lock: only the thread that makes the version odd
 * writes. */
static struct {
    _Atomic uint32_t version;
    _Atomic uint32_t kind; /* enum kind */
    _Atomic uintptr_t start, end;
} stored;

/* Stores the kind of the memory [start, end), for the next question about it. Threads may read and
 * write at once: the version is odd while one writes, and a second writer gives up. */
static void remember_stretch(uintptr_t start, uintptr_t end, enum kind kind)
{
    uint32_t version = atomic_load(&stored.version);
    if ((version & 1) || !atomic_compare_exchange_strong(&stored.version, &version, version + 1))
        return;
    atomic_store(&stored.start, start);
    atomic_store(&stored.end, end);
    atomic_store(&stored.kind, kind);
    atomic_store(&stored.version, version + 2);
}

/* Returns the stored kind, if it holds for all of [address, end). NOT_PLAIN, which is never
 * believed: nothing is stored for it, or a thread has stored something meanwhile. */
static enum kind known_kind(uintptr_t address, uintptr_t end)
{
    uint32_t version = atomic_load(&stored.version);
    enum kind kind = (enum kind)atomic_load(&stored.kind);
    bool is_known = !(version & 1) && atomic_load(&stored.start) <= address &&
                    end <= atomic_load(&stored.end) && atomic_load(&stored.version) == version;
    return is_known ? kind : NOT_PLAIN;
}

/* Drops what is stored if the program changes the mapping of any of these pages, which may then be
 * of another kind. Called for each such change: mostly nothing is stored, and `end` is 0. */
void sc_mappings_forget(uintptr_t address, size_t size_bytes)
{
    uintptr_t end = atomic_load_explicit(&stored.end, memory_order_relaxed);
    if (sc_unlikely(end != 0) && address < end &&
        atomic_load_explicit(&stored.start, memory_order_relaxed) < address + size_bytes)
        remember_stretch(0, 0, NOT_PLAIN);
}

/* Has the library's page protection changed the access to all of [start, end)? Such pages are plain
 * memory for the program, whatever access Linux shows. */
static bool is_disguised(sc_mappings_disguised *disguised, uintptr_t start, uintptr_t end)
{
    return disguised(start, end) == end;
}

/* Finds the kind of [address, end) by reading all mappings, on Linux without PROCMAP_QUERY.
 * Adjacent plain mappings count as one, from `start` to `reached`: they have one kind, and are
 * stored as a whole. So the reading goes on behind `end`, until such a run ends. */
static enum kind kind_by_reading(int fd, uintptr_t address, uintptr_t end,
                                 sc_mappings_disguised *disguised)
{
    struct sc_maps_reader reader = {.fd = fd};
    struct mapping mapping;
    uintptr_t start = 0;
    uintptr_t reached = 0;
    uintptr_t closed_end = 0; /* where the last mapping without access ends */
    bool closed_below = false;
    while (next_mapping(&reader, &mapping)) {
        bool plain = memcmp(mapping.access, "rw-", 3) == 0 ||
                     is_disguised(disguised, mapping.start, mapping.end);
        if (!plain || mapping.start != reached) {
            if (reached >= end || mapping.start >= end)
                break;
            start = mapping.start;
            closed_below = closed_end == start;
        }
        reached = plain ? mapping.end : 0;
        if (!plain && memcmp(mapping.access, "---", 3) == 0)
            closed_end = mapping.end;
    }
    if (reached < end || start > address)
        return NOT_PLAIN;
    remember_stretch(start, reached, kind_of(start, closed_below));
    return kind_of(start, closed_below);
}

/* Is there a mapping at the address that allows no access at all? */
static bool is_closed(int fd, uintptr_t address)
{
    struct query mapping;
    return query_mapping(fd, address, &mapping) == 0 &&
           !(mapping.flags & (IS_READABLE | IS_WRITABLE | IS_EXECUTABLE));
}

/* Does a mapping without access end where this plain one starts, as below a thread's stack? Pages
 * that the library has made inaccessible do not count. */
static bool is_closed_below(int fd, const struct query *mapping, sc_mappings_disguised *disguised)
{
    uintptr_t start = mapping->start;
    return is_closed(fd, start - 1) && !is_disguised(disguised, start - 1, start);
}

/* Finds the kind of [address, end) by a query for each mapping in it; a gap is not plain (ENOENT).
 * One piece that may be a stack makes the whole a possible stack. On Linux without that ioctl, all
 * mappings are read. */
static enum kind kind_between(int fd, uintptr_t address, uintptr_t end,
                              sc_mappings_disguised *disguised)
{
    struct query mapping;
    enum kind kind = PLAIN;
    while (address < end) {
        int error = query_mapping(fd, address, &mapping);
        if (error && error != ENOENT)
            return kind_by_reading(fd, address, end, disguised);
        uintptr_t last = error || end < mapping.end ? end : mapping.end;
        if (error || (!is_plain(&mapping) && !is_disguised(disguised, address, last)))
            return NOT_PLAIN;
        if (is_plain(&mapping) &&
            kind_of(mapping.start, is_closed_below(fd, &mapping, disguised)) == PLAIN_STACK)
            kind = PLAIN_STACK;
        address = mapping.end;
    }
    return kind;
}

/* Returns the kind of these addresses: the stored one, or else a new one. NOT_PLAIN also if Linux
 * does not provide its list of mappings. */
static enum kind query_kind(uintptr_t address, size_t size_bytes, sc_mappings_disguised *disguised)
{
    SC_KEEP_ERRNO();
    enum kind kind = known_kind(address, address + size_bytes);
    if (kind != NOT_PLAIN)
        return kind;
    int fd = open_mappings();
    if (fd >= 0)
        kind = kind_between(fd, address, address + size_bytes, disguised);
    close_mappings(fd);
    return kind;
}

/* Is all of the memory plain: readable and writable and not executable, as the program mapped it?
 */
bool sc_mappings_are_plain(uintptr_t address, size_t size_bytes, sc_mappings_disguised *disguised)
{
    return query_kind(address, size_bytes, disguised) != NOT_PLAIN;
}

/* Is all of the memory plain, and can no thread's stack lie there? Pages of a stack must never be
 * protected. */
bool sc_mappings_are_plain_heap(uintptr_t address, size_t size_bytes,
                                sc_mappings_disguised *disguised)
{
    return query_kind(address, size_bytes, disguised) == PLAIN;
}

/* ---- other questions ---- */

/* Does the mapping at the address allow to read it, or (`is_write`) to write it? Reads
 * /proc/self/maps up to it, on Linux without PROCMAP_QUERY. */
static bool allows_by_reading(int fd, uintptr_t address, bool is_write)
{
    struct sc_maps_reader reader = {.fd = fd};
    struct mapping mapping = {0};
    while (mapping.end <= address && next_mapping(&reader, &mapping)) {
    }
    return mapping.start <= address && address < mapping.end &&
           mapping.access[is_write ? 1 : 0] == (is_write ? 'w' : 'r');
}

/* Does the mapping at the address allow to read it, or (`is_write`) to write it? Nothing is mapped
 * there: no. On Linux without PROCMAP_QUERY all mappings are read. */
static bool allows_access(int fd, uintptr_t address, bool is_write)
{
    struct query mapping;
    int error = query_mapping(fd, address, &mapping);
    if (error && error != ENOENT)
        return allows_by_reading(fd, address, is_write);
    return error == 0 && (mapping.flags & (is_write ? IS_WRITABLE : IS_READABLE));
}

/* Would Linux allow the program this access, so that a fault at the address is not the program's
 * mistake? False also if /proc/self/maps cannot be opened. */
bool sc_mappings_allow(uintptr_t address, bool is_write)
{
    SC_KEEP_ERRNO();
    int fd = open_mappings();
    bool allowed = fd >= 0 && allows_access(fd, address, is_write);
    close_mappings(fd);
    return allowed;
}

/* Counts the mappings of the process, of which Linux allows only so many; 0 if it does not list
 * them. */
uint64_t sc_mappings_count(void)
{
    SC_KEEP_ERRNO();
    struct sc_maps_reader reader = {.fd = open_mappings()};
    struct mapping mapping;
    uint64_t count = 0;
    while (reader.fd >= 0 && next_mapping(&reader, &mapping))
        count++;
    close_mappings(reader.fd);
    return count;
}

/* Is a file mapped whose path contains `part`? For instance a device of the driver's. */
bool sc_mappings_have(const char *part)
{
    SC_KEEP_ERRNO();
    struct sc_maps_reader reader = {.fd = open_mappings()};
    struct mapping mapping;
    bool found = false;
    while (reader.fd >= 0 && !found && next_mapping(&reader, &mapping))
        found = strstr(mapping.tail, part) != NULL;
    close_mappings(reader.fd);
    return found;
}

/* Calls `visit` for each mapping of the process until it returns false. False: Linux does not list
 * them. A forked child may call this, so the file is opened and closed without the C library. */
bool sc_mappings_each(sc_mappings_visit *visit, void *context)
{
    int saved = errno;
    struct sc_maps_reader reader = {.fd = open_mappings()};
    struct mapping mapping;
    while (reader.fd >= 0 && next_mapping(&reader, &mapping) &&
           visit(context, mapping.start, mapping.end, mapping.access, mapping.tail)) {
    }
    if (reader.fd >= 0)
        sc_kernel_call(SYS_close, reader.fd);
    errno = saved;
    return reader.fd >= 0;
}

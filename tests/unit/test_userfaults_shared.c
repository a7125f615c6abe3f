/* links: interpose/guard/userfaults.c interpose/memory/areas.c
 * links: interpose/guard/guarded_ranges.c interpose/guard/page_protection.c
 * not-under: qemu memcheck thread (which know no userfaultfd)
 *
 * Memory that is not the library's: which is registered, and that none is lost whose mapping has
 * been replaced by a system call that no hook sees. */
#include "tests/unit/touch_reader.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

enum { FILLED = 5, DEVICE = 9 };

/* Maps pages at the start of an area elsewhere. */
static unsigned char *map_elsewhere(size_t size_bytes, int flags, int file)
{
    static uintptr_t at = 0;
    if (!at)
        at = sc_areas_reserve((size_t)4 * SC_AREAS_BYTES);
    if (file < 0)
        flags |= MAP_ANONYMOUS;
    unsigned char *pages =
        mmap((void *)at, size_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    memset(pages, FILLED, size_bytes);
    return pages;
}

static int memory_file(size_t size_bytes)
{
    int file = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, (off_t)size_bytes), 0);
    return file;
}

static bool adopt(size_t size_bytes)
{
    ck_assert(sc_spans_add_area(&sc_track.inflight.guards, (uintptr_t)block));
    ck_assert(move_area(block));
    return sc_userfaults_may_adopt_shared((uintptr_t)block) &&
           sc_userfaults_adopt_shared((uintptr_t)block, size_bytes);
}

/* False: there is nothing to be tested here. */
static bool begin_elsewhere(void)
{
    if (!begin())
        return false;
    block = map_elsewhere(BYTES, MAP_SHARED, -1);
    alias = mremap(block, 0, BYTES, MREMAP_MAYMOVE);
    ck_assert_ptr_ne(alias, MAP_FAILED);
    ck_assert(adopt(BYTES));
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, false));
    return true;
}

static int try_to_set(unsigned first, unsigned count, enum sc_access access)
{
    return sc_userfaults_set((uintptr_t)block + first * PAGE, count * (size_t)PAGE, access);
}

/* Can Linux read and write the pages for the program? */
static void check_system_calls(unsigned first, unsigned count)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    for (unsigned page = first; page < first + count; page++) {
        ck_assert_int_eq(write(ends[1], block + (size_t)page * PAGE, PAGE), PAGE);
        ck_assert_int_eq(read(ends[0], block + (size_t)page * PAGE, PAGE), PAGE);
    }
}

static void check_filled(unsigned first, unsigned count, unsigned char byte)
{
    size_t i = first * (size_t)PAGE, end = i + count * (size_t)PAGE;
    while (i < end && block[i] == byte)
        i++;
    ck_assert_uint_eq(i, end);
}

START_TEST(shared_memory_is_protected_and_keeps_its_bytes)
{
    if (!begin_elsewhere())
        return;
    for (unsigned i = 0; i < OFTEN; i++) {
        set(0, PAGES, SC_ACCESS_NONE);
        memset(alias, (int)i, BYTES);
        set(0, PAGES, SC_ACCESS_ALL);
        check_filled(0, PAGES, (unsigned char)i);
    }
    take_sources_of((uintptr_t)block);
    ck_assert(sc_guard_uses_userfault((uintptr_t)block, BYTES, true));
    set(0, PAGES, SC_ACCESS_READ);
    check_filled(0, PAGES, OFTEN - 1);
    set(0, PAGES, SC_ACCESS_NONE);
    set(0, PAGES, SC_ACCESS_ALL);
    check_system_calls(0, PAGES);
    ck_assert_uint_eq(atomic_load(&events), 0);
    pthread_t toucher = (set(0, PAGES, SC_ACCESS_NONE), begin_to_touch());
    alias[1] = DEVICE;
    set(0, PAGES, SC_ACCESS_ALL);
    pthread_join(toucher, NULL);
    ck_assert_uint_eq(block[0], 1);
    ck_assert_uint_eq(block[1], DEVICE);
    atomic_store(&holds, false);
}
END_TEST

START_TEST(shared_memory_of_a_file_in_memory_is_taken)
{
    if (!begin())
        return;
    block = map_elsewhere(BYTES, MAP_SHARED, memory_file(BYTES));
    ck_assert(adopt(BYTES));
    set(0, PAGES, SC_ACCESS_NONE);
    set(0, PAGES, SC_ACCESS_ALL);
    check_filled(0, PAGES, FILLED);
}
END_TEST

/* UFFDIO_REGISTER takes the private mapping of a file in memory. */
START_TEST(private_memory_is_not_taken)
{
    if (!begin())
        return;
    block = map_elsewhere(BYTES, MAP_PRIVATE, -1);
    ck_assert(!adopt(BYTES));
    ck_assert(!sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    block = map_elsewhere(BYTES, MAP_PRIVATE, memory_file(BYTES));
    ck_assert(!adopt(BYTES));
    ck_assert(!sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    ck_assert_int_eq(try_to_set(0, PAGES, SC_ACCESS_NONE), 0); /* by mprotect */
    ck_assert_int_eq(try_to_set(0, PAGES, SC_ACCESS_ALL), 0);
    check_filled(0, PAGES, FILLED);
}
END_TEST

START_TEST(a_file_is_not_taken)
{
    char path[] = "test_userfaults_shared.XXXXXX";
    if (!begin())
        return;
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    unlink(path);
    ck_assert_int_eq(ftruncate(file, BYTES), 0);
    block = map_elsewhere(BYTES, MAP_SHARED, file);
    ck_assert(!adopt(BYTES));
}
END_TEST

/* Replaces pages as an instruction would, and fills them. */
static void replace(unsigned first, unsigned count, int flags, int file)
{
    unsigned char *at = block + (size_t)first * PAGE;
    ck_assert_int_eq(munmap(at, count * (size_t)PAGE), 0);
    ck_assert_ptr_eq(mmap(at, count * (size_t)PAGE, PROT_READ | PROT_WRITE,
                          flags | MAP_FIXED | (file < 0 ? MAP_ANONYMOUS : 0), file, 0),
                     at);
    memset(at, DEVICE, count * (size_t)PAGE);
}

static void check_nothing_lost(unsigned first, unsigned count, int flags, int file)
{
    replace(first, count, flags, file);
    ck_assert_int_ne(try_to_set(0, PAGES, SC_ACCESS_NONE), 0);
    check_filled(first, count, DEVICE);
    check_filled(0, first, FILLED);
    check_system_calls(0, PAGES);
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    ck_assert(!sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    ck_assert_int_eq(try_to_set(0, PAGES, SC_ACCESS_NONE), 0); /* by mprotect */
    ck_assert_int_eq(try_to_set(0, PAGES, SC_ACCESS_ALL), 0);
    check_filled(first, count, DEVICE);
    ck_assert_uint_eq(atomic_load(&events), 0);
}

START_TEST(private_memory_that_replaces_a_mapping_keeps_its_bytes)
{
    if (begin_elsewhere())
        check_nothing_lost(0, PAGES, MAP_PRIVATE, -1);
}
END_TEST

START_TEST(a_private_file_that_replaces_a_mapping_keeps_its_bytes)
{
    if (begin_elsewhere())
        check_nothing_lost(0, PAGES, MAP_PRIVATE, memory_file(BYTES));
}
END_TEST

START_TEST(private_memory_that_replaces_a_page_keeps_its_bytes)
{
    if (begin_elsewhere())
        check_nothing_lost(PAGES - 1, 1, MAP_PRIVATE, -1);
}
END_TEST

/* What was removed from the page tables has gone with the mapping. */
START_TEST(memory_that_replaces_protected_pages_is_left_alone)
{
    if (!begin_elsewhere())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    replace(0, PAGES, MAP_PRIVATE, -1);
    try_to_set(0, PAGES, SC_ACCESS_ALL);
    check_filled(0, PAGES, DEVICE);
    ck_assert_int_ne(try_to_set(0, PAGES, SC_ACCESS_NONE), 0);
    check_filled(0, PAGES, DEVICE);
    check_system_calls(0, PAGES);
}
END_TEST

/* As by madvise(MADV_DONTFORK) of a part: Linux maps no page of two mappings in one call. */
START_TEST(pages_of_a_mapping_that_was_split_are_mapped_again)
{
    if (!begin_elsewhere())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    ck_assert_int_eq(madvise(block + 3 * PAGE, PAGE, MADV_DONTFORK), 0);
    set(0, PAGES, SC_ACCESS_ALL);
    check_system_calls(0, PAGES);
    check_filled(0, PAGES, FILLED);
    ck_assert_uint_eq(atomic_load(&events), 0);
}
END_TEST

START_TEST(a_huge_page_is_not_taken)
{
    if (!begin())
        return;
    block = map_elsewhere(SC_AREAS_BYTES, MAP_SHARED, -1);
    bool is_huge = madvise(block, SC_AREAS_BYTES, COLLAPSE) == 0;
    ck_assert_int_eq(adopt(BYTES), !is_huge);
    check_system_calls(0, AREA_PAGES);
    ck_assert_uint_eq(atomic_load(&events), 0);
}
END_TEST

START_TEST(released_memory_is_registered_no_more)
{
    if (!begin_elsewhere())
        return;
    set(2, 1, SC_ACCESS_NONE);
    sc_userfaults_release((uintptr_t)block, BYTES); /* all but what is protected */
    ck_assert(!sc_userfaults_have_adopted((uintptr_t)block, PAGE));
    ck_assert(sc_userfaults_have_adopted((uintptr_t)block + 2 * PAGE, PAGE));
    set(2, 1, SC_ACCESS_ALL);
    sc_userfaults_release((uintptr_t)block, BYTES);
    ck_assert_int_eq(madvise(block, BYTES, MADV_DONTNEED), 0);
    check_system_calls(0, PAGES);
    ck_assert_uint_eq(atomic_load(&events), 0);
    ck_assert(sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    set(0, PAGES, SC_ACCESS_NONE);
    set(0, PAGES, SC_ACCESS_ALL);
    check_filled(0, PAGES, FILLED);
}
END_TEST

START_TEST(pages_that_are_protected_are_not_taken_now)
{
    if (!begin())
        return;
    block = map_elsewhere(BYTES, MAP_SHARED, -1);
    ck_assert(sc_spans_add_area(&sc_track.inflight.guards, (uintptr_t)block));
    ck_assert(move_area(block));
    set(1, 1, SC_ACCESS_NONE);
    ck_assert(!sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    set(1, 1, SC_ACCESS_ALL);
    check_system_calls(0, PAGES);
    ck_assert(sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    set(1, 1, SC_ACCESS_NONE);
    ck_assert(!sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
    ck_assert(sc_userfaults_is_protected((uintptr_t)block + PAGE));
    set(1, 1, SC_ACCESS_ALL);
    check_system_calls(0, PAGES);
}
END_TEST

START_TEST(memory_of_another_userfaultfd_is_not_taken)
{
    if (!begin())
        return;
    block = map_elsewhere(BYTES, MAP_SHARED, -1);
    int other = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register request = {.range = {(uintptr_t)block, PAGE},
                                      .mode = UFFDIO_REGISTER_MODE_MISSING};
    ck_assert_int_eq(ioctl(other, UFFDIO_API, &api), 0);
    ck_assert_int_eq(ioctl(other, UFFDIO_REGISTER, &request), 0);
    ck_assert(!adopt(BYTES));
    ck_assert(!sc_guard_uses_userfault((uintptr_t)block, PAGE, false));
    struct uffdio_range range = request.range;
    ck_assert_int_eq(ioctl(other, UFFDIO_UNREGISTER, &range), 0);
    ck_assert(sc_userfaults_adopt_shared((uintptr_t)block, BYTES));
}
END_TEST

START_TEST(locked_memory_is_protected_as_other_is)
{
    if (!begin_elsewhere())
        return;
    ck_assert_int_eq(mlock(block, BYTES), 0);
    set(0, PAGES, SC_ACCESS_NONE);
    memset(alias, DEVICE, BYTES);
    set(0, PAGES, SC_ACCESS_ALL);
    check_system_calls(0, PAGES);
    check_filled(0, PAGES, DEVICE);
}
END_TEST

/* While an area is taken, Linux finds each page whenever it looks. */
START_TEST(memory_is_taken_beside_system_calls)
{
    pthread_t caller;
    if (!begin())
        return;
    block = map_elsewhere(SC_AREAS_BYTES, MAP_SHARED, -1);
    ck_assert_int_eq(pthread_create(&caller, NULL, pass_pages_through_pipe, block), 0);
    for (unsigned i = 0; i < OFTEN; i++) {
        usleep(1000);
        ck_assert(adopt(SC_AREAS_BYTES));
        usleep(1000);
        sc_userfaults_release((uintptr_t)block, SC_AREAS_BYTES);
    }
    atomic_store(&is_over, true);
    pthread_join(caller, NULL);
    ck_assert_uint_eq(atomic_load(&events), 0);
}
END_TEST

START_TEST(a_child_has_all_pages)
{
    if (!begin_elsewhere())
        return;
    set(0, PAGES, SC_ACCESS_NONE);
    pid_t child = fork();
    if (child == 0) {
        is_child = true;
        try_to_set(0, PAGES, SC_ACCESS_ALL);
        sc_userfaults_release((uintptr_t)block, BYTES);
        block[0] = 1;
        _exit(block[PAGE] == FILLED ? 0 : 1);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    set(0, PAGES, SC_ACCESS_ALL);
    ck_assert_uint_eq(block[0], 1); /* it is shared with the child */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("userfaults_shared");
    TCase *cases = tcase_create("userfaults_shared");
    tcase_add_test(cases, shared_memory_is_protected_and_keeps_its_bytes);
    tcase_add_test(cases, shared_memory_of_a_file_in_memory_is_taken);
    tcase_add_test(cases, private_memory_is_not_taken);
    tcase_add_test(cases, a_file_is_not_taken);
    tcase_add_test(cases, private_memory_that_replaces_a_mapping_keeps_its_bytes);
    tcase_add_test(cases, a_private_file_that_replaces_a_mapping_keeps_its_bytes);
    tcase_add_test(cases, private_memory_that_replaces_a_page_keeps_its_bytes);
    tcase_add_test(cases, memory_that_replaces_protected_pages_is_left_alone);
    tcase_add_test(cases, pages_of_a_mapping_that_was_split_are_mapped_again);
    tcase_add_test(cases, a_huge_page_is_not_taken);
    tcase_add_test(cases, released_memory_is_registered_no_more);
    tcase_add_test(cases, pages_that_are_protected_are_not_taken_now);
    tcase_add_test(cases, memory_of_another_userfaultfd_is_not_taken);
    tcase_add_test(cases, locked_memory_is_protected_as_other_is);
    tcase_add_test(cases, memory_is_taken_beside_system_calls);
    tcase_add_test(cases, a_child_has_all_pages);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

/* Pages, pools and the arena. */
#include "common/arena.h"
#include "common/own_pages.h"
#include "common/pool.h"
#include "tests/unit/destroy.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << SC_POOL_CHUNK_SHIFT };

static struct sc_pool pool;

static void set_up(void)
{
    sc_pool_init(&pool, 20);
}

static void tear_down(void)
{
    sc_pool_destroy(&pool);
}

START_TEST(pages_come_zeroed)
{
    char *pages = sc_pages_map(100000);
    ck_assert_ptr_nonnull(pages);
    for (size_t i = 0; i < 100000; i++)
        if (pages[i])
            ck_abort_msg("byte %zu", i);
    sc_pages_unmap(pages, 100000);
    sc_pages_unmap(NULL, 4096);
    ck_assert_ptr_null(sc_pages_map(SIZE_MAX / 2));
}
END_TEST

START_TEST(records_are_rounded_up_and_0_is_never_handed_out)
{
    ck_assert_uint_eq(pool.record_bytes, 24);
    for (uint32_t i = 1; i <= 3 * CHUNK; i++)
        ck_assert_uint_eq(sc_pool_take(&pool), i);
    ck_assert_uint_eq(pool.live, 3 * CHUNK);
}
END_TEST

START_TEST(a_record_comes_zeroed_and_does_not_move)
{
    uint32_t id = sc_pool_take(&pool);
    char *record = sc_pool_at(&pool, id);
    memset(record, 0xff, pool.record_bytes);
    sc_pool_release(&pool, id);
    ck_assert_uint_eq(sc_pool_take(&pool), id);
    ck_assert_ptr_eq(sc_pool_at(&pool, id), record);
    for (size_t i = 0; i < pool.record_bytes; i++)
        ck_assert_int_eq(record[i], 0);
}
END_TEST

START_TEST(records_do_not_overlap)
{
    for (uint32_t i = 1; i <= 2 * CHUNK; i++)
        memset(sc_pool_at(&pool, sc_pool_take(&pool)), (int)(i % 251), pool.record_bytes);
    for (uint32_t i = 1; i <= 2 * CHUNK; i++)
        for (size_t at = 0; at < pool.record_bytes; at++)
            if (((unsigned char *)sc_pool_at(&pool, i))[at] != i % 251)
                ck_abort_msg("byte %zu of record %u", at, i);
}
END_TEST

START_TEST(an_empty_pool_starts_afresh_in_the_same_place)
{
    enum { COUNT = 6 * CHUNK };
    void *last = NULL;
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 1; i <= COUNT; i++) {
            uint32_t id = sc_pool_take(&pool);
            if (id != i || *(uint64_t *)sc_pool_at(&pool, id))
                ck_abort_msg("record %u is %u, or not zeroed", i, id);
            *(uint64_t *)sc_pool_at(&pool, id) = UINT64_MAX;
        }
        ck_assert(!last || last == sc_pool_at(&pool, COUNT));
        last = sc_pool_at(&pool, COUNT);
        for (uint32_t i = 1; i <= COUNT; i++)
            sc_pool_release(&pool, i);
        ck_assert_uint_eq(*(volatile uint64_t *)last, 0); /* mapped still, but back at the kernel */
    }
}
END_TEST

/* Its shadow of all the records takes gigabytes, and one thread has no races. */
#ifdef __SANITIZE_THREAD__
enum { UNDER_THREAD_SANITIZER = 1 };
#else
enum { UNDER_THREAD_SANITIZER = 0 };
#endif

START_TEST(ids_are_used_up_some_day)
{
    struct sc_pool small;
    const uint32_t all = (uint32_t)CHUNK * SC_POOL_CHUNKS_MAX - 1;
    sc_pool_init(&small, 8);
    for (uint32_t i = 1; i <= all; i++)
        if (sc_pool_take(&small) != i)
            ck_abort_msg("record %u", i);
    ck_assert_uint_eq(sc_pool_take(&small), 0);
    ck_assert_uint_eq(small.live, all);
    sc_pool_release(&small, 77);
    ck_assert_uint_eq(sc_pool_take(&small), 77);
    sc_pool_destroy(&small);
}
END_TEST

START_TEST(blocks_are_recycled_by_size)
{
    struct sc_arena arena = {0};
    void *small = sc_arena_alloc(&arena, 33);
    void *large = sc_arena_alloc(&arena, 1000);
    ck_assert_ptr_ne(small, large);
    sc_arena_free(&arena, small, 33);
    sc_arena_free(&arena, large, 1000);
    ck_assert_ptr_eq(sc_arena_alloc(&arena, 1024), large);
    ck_assert_ptr_eq(sc_arena_alloc(&arena, 64), small);
    ck_assert_ptr_ne(sc_arena_alloc(&arena, 64), small);
    destroy_arena(&arena);
}
END_TEST

START_TEST(blocks_of_all_sizes_are_aligned_and_apart)
{
    enum { BLOCKS = 20000 };
    static unsigned char *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    struct sc_arena arena = {0};
    srandom(5);
    for (int i = 0; i < BLOCKS; i++) {
        sizes[i] = 1 + (size_t)random() % (i % 500 ? 512 : 1000000);
        blocks[i] = sc_arena_alloc(&arena, sizes[i]);
        ck_assert_ptr_nonnull(blocks[i]);
        ck_assert_uint_eq((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], i % 251, sizes[i]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        for (size_t at = 0; at < sizes[i]; at++)
            if (blocks[i][at] != i % 251)
                ck_abort_msg("byte %zu of block %d", at, i);
        sc_arena_free(&arena, blocks[i], sizes[i]);
    }
    destroy_arena(&arena);
    ck_assert_ptr_null(arena.chunks);
}
END_TEST

/* Of such a block only the pages that are touched take memory. */
START_TEST(blocks_beyond_the_last_class_stand_alone)
{
    const size_t last = (size_t)1 << (SC_ARENA_CLASSES - 1);
    const size_t sizes[] = {last, last + 1, 3 * last, 5 * last};
    struct sc_arena arena = {0};
    char *small = sc_arena_alloc(&arena, 64);
    char *bump = arena.bump;
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char *block = sc_arena_alloc(&arena, sizes[i]);
        if (!block) /* the machine does not lend out that much */
            continue;
        block[0] = 1;
        block[sizes[i] - 1] = 1;
        sc_arena_free(&arena, block, sizes[i]);
        ck_assert_ptr_eq(arena.bump, bump);
    }
    ck_assert_ptr_null(sc_arena_alloc(&arena, SIZE_MAX / 2));
    ck_assert_ptr_null(sc_arena_alloc(&arena, SIZE_MAX));
    ck_assert_ptr_eq(sc_arena_alloc(&arena, 64), small + 64);
    destroy_arena(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *group = tcase_create("pool");
    tcase_add_checked_fixture(group, set_up, tear_down);
    tcase_set_timeout(group, 60);
    tcase_add_test(group, pages_come_zeroed);
    tcase_add_test(group, records_are_rounded_up_and_0_is_never_handed_out);
    tcase_add_test(group, a_record_comes_zeroed_and_does_not_move);
    tcase_add_test(group, records_do_not_overlap);
    tcase_add_test(group, an_empty_pool_starts_afresh_in_the_same_place);
    if (!UNDER_THREAD_SANITIZER)
        tcase_add_test(group, ids_are_used_up_some_day);
    tcase_add_test(group, blocks_are_recycled_by_size);
    tcase_add_test(group, blocks_of_all_sizes_are_aligned_and_apart);
    tcase_add_test(group, blocks_beyond_the_last_class_stand_alone);
    suite_add_tcase(suite, group);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

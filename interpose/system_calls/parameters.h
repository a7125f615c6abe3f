/* Macros for the rows of this folder's tables, which give the parameters of a function once, as
 * pairs of a type and a name: `(int, fd, void *, into, size_t, size)`. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_PARAMETERS_H
#define SC_INTERPOSE_SYSTEM_CALLS_PARAMETERS_H

/* Expand pairs of a type and a name, such as (int, fd, void *, into, size_t, size), to `int fd,
 * void *into, size_t size`, and to `fd, into, size`. */
#define SC_PARAMETERS_OF(pairs) SC_PAIRS(SC_PAIR_DECLARED, pairs)
#define SC_ARGUMENTS_OF(pairs) SC_PAIRS(SC_PAIR_NAMED, pairs)
#define SC_PAIR_DECLARED(type, name) type name
#define SC_PAIR_NAMED(type, name) name

#define SC_PAIRS(as, pairs) SC_PAIRS_COUNTED(SC_PAIRS_COUNT pairs, as, SC_PAIRS_UNPACKED pairs)
#define SC_PAIRS_COUNTED(...) SC_PAIRS_OF(__VA_ARGS__)
#define SC_PAIRS_OF(count, as, ...) SC_PAIRS_##count(as, __VA_ARGS__)
#define SC_PAIRS_UNPACKED(...) __VA_ARGS__
#define SC_PAIRS_COUNT(...) SC_PAIRS_NTH(__VA_ARGS__, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1)
#define SC_PAIRS_NTH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, count, ...) count
#define SC_PAIRS_1(as, type, name) as(type, name)
#define SC_PAIRS_2(as, type, name, ...) as(type, name), SC_PAIRS_1(as, __VA_ARGS__)
#define SC_PAIRS_3(as, type, name, ...) as(type, name), SC_PAIRS_2(as, __VA_ARGS__)
#define SC_PAIRS_4(as, type, name, ...) as(type, name), SC_PAIRS_3(as, __VA_ARGS__)
#define SC_PAIRS_5(as, type, name, ...) as(type, name), SC_PAIRS_4(as, __VA_ARGS__)
#define SC_PAIRS_6(as, type, name, ...) as(type, name), SC_PAIRS_5(as, __VA_ARGS__)
#define SC_PAIRS_7(as, type, name, ...) as(type, name), SC_PAIRS_6(as, __VA_ARGS__)

#endif

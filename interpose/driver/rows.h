/* Macros that read the rows of api.def. A row names the parameters of its function as CUPTI's
 * structure `symbol_params` does, from which their types are taken. */
#ifndef SC_INTERPOSE_DRIVER_ROWS_H
#define SC_INTERPOSE_DRIVER_ROWS_H

#include "interpose/driver/driver.h"

#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h> /* has no guard */

/* Turn "(address, bytes)" into the parameters of the function, and into `a->address, a->bytes`. */
#define SC_PARAMETERS(symbol, arguments) (SC_EACH(SC_PARAMETER, symbol, arguments))
#define SC_PARAMETER(symbol, name) __typeof__(((symbol##_params *)0)->name) name
#define SC_MEMBERS(a, arguments) SC_EACH(SC_MEMBER, a, arguments)
#define SC_MEMBER(a, name) a->name

#define SC_EACH(as, of, list) SC_EACH_COUNTED(SC_COUNT list, as, of, SC_UNPACKED list)
#define SC_EACH_COUNTED(...) SC_EACH_OF(__VA_ARGS__)
#define SC_EACH_OF(count, as, of, ...) SC_EACH_##count(as, of, __VA_ARGS__)
#define SC_UNPACKED(...) __VA_ARGS__
#define SC_COUNT(...) SC_COUNTED(, ##__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SC_COUNTED(a, b, c, d, e, f, g, h, i, j, k, l, count, ...) count
#define SC_EACH_0(as, of, ...)
#define SC_EACH_1(as, of, name) as(of, name)
#define SC_EACH_2(as, of, name, ...) as(of, name), SC_EACH_1(as, of, __VA_ARGS__)
#define SC_EACH_3(as, of, name, ...) as(of, name), SC_EACH_2(as, of, __VA_ARGS__)
#define SC_EACH_4(as, of, name, ...) as(of, name), SC_EACH_3(as, of, __VA_ARGS__)
#define SC_EACH_5(as, of, name, ...) as(of, name), SC_EACH_4(as, of, __VA_ARGS__)
#define SC_EACH_6(as, of, name, ...) as(of, name), SC_EACH_5(as, of, __VA_ARGS__)
#define SC_EACH_7(as, of, name, ...) as(of, name), SC_EACH_6(as, of, __VA_ARGS__)
#define SC_EACH_8(as, of, name, ...) as(of, name), SC_EACH_7(as, of, __VA_ARGS__)
#define SC_EACH_9(as, of, name, ...) as(of, name), SC_EACH_8(as, of, __VA_ARGS__)
#define SC_EACH_10(as, of, name, ...) as(of, name), SC_EACH_9(as, of, __VA_ARGS__)
#define SC_EACH_11(as, of, name, ...) as(of, name), SC_EACH_10(as, of, __VA_ARGS__)

#endif

/* A benchmark program's command line: PROGRAM [--quick] [--list] [OPTION...] [NAME...].
 *
 * Options that it does not know, and names of no benchmark, end the program with status 2.
 */
#ifndef BENCH_CHOICE_H
#define BENCH_CHOICE_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of a program's benchmark number `i`, or NULL behind the last one. */
typedef const char *name_function(size_t i);

/* --list, among a program's options. */
#define CHOICE_LIST                                                                                \
    {                                                                                              \
        "list", no_argument, NULL, 'l'                                                             \
    }

/* The names on the command line; none: every benchmark. And the value of the last option that has
 * one, or NULL. */
struct choice {
    char **names;
    int count;
    const char *value;
};

static inline bool is_chosen(const struct choice *choice, const char *name)
{
    for (int i = 0; i < choice->count; i++)
        if (strcmp(name, choice->names[i]) == 0)
            return true;
    return choice->count == 0;
}

static inline void list_names(name_function *name_of)
{
    const char *name;
    for (size_t i = 0; (name = name_of(i)) != NULL; i++)
        puts(name);
}

static inline void must_be_known(const char *program, const char *wanted, name_function *name_of)
{
    const char *name;
    for (size_t i = 0; (name = name_of(i)) != NULL; i++)
        if (strcmp(name, wanted) == 0)
            return;
    fprintf(stderr, "%s: no benchmark %s; --list names them\n", program, wanted);
    exit(2);
}

/* `options` ends with zeros; an option of it sets its flag to its value. */
static inline struct choice choose(int argc, char **argv, const struct option *options,
                                   name_function *name_of)
{
    const char *value = NULL;
    for (int found; (found = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (found == 'l') {
            list_names(name_of);
            exit(0);
        }
        if (found != 0) /* getopt_long has said what is wrong */
            exit(2);
        value = optarg ? optarg : value;
    }
    for (int i = optind; i < argc; i++)
        must_be_known(argv[0], argv[i], name_of);
    return (struct choice){argv + optind, argc - optind, value};
}

#endif

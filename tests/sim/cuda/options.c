/* SIM_GPU="key=value:key=value". A bad key or value costs one line on stderr and keeps the default.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim_options sim_options = {
    .devices = 1,
    .delay_ns = 50 * 1000,
    .late_limit_ns = 30 * 1000 * 1000,
    .driver = SIM_DRIVER_VERSION,
};

struct unit {
    const char *suffix;
    uint64_t scale;
};

static const struct unit time_units[] = {{"ns", 1},         {"us", 1000}, {"ms", 1000000},
                                         {"s", 1000000000}, {"", 1000},   {NULL, 0}};
static const struct unit size_units[] = {
    {"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0}};
static const struct unit plain[] = {{"", 1}, {NULL, 0}};

static bool parse(const char *text, const struct unit *units, uint64_t most, uint64_t *result)
{
    char *end;
    if (*text < '0' || *text > '9') {
        return false;
    }
    uint64_t number = strtoull(text, &end, 10);
    for (; units->suffix; units++) {
        if (strcmp(end, units->suffix) == 0 && number <= most / units->scale) {
            *result = number * units->scale;
            return true;
        }
    }
    return false;
}

static bool set(const char *key, const char *value)
{
    const uint64_t day_ns = UINT64_C(86400) * 1000000000;
    const struct {
        const char *key;
        const struct unit *units;
        uint64_t least, most;
    } keys[] = {
        {"devices", plain, 0, SIM_MAX_DEVICES},
        {"delay", time_units, 0, day_ns},
        {"late", plain, 0, 1},
        {"late_limit", time_units, 0, day_ns},
        {"seed", plain, 0, UINT64_MAX},
        {"kernel", time_units, 0, day_ns},
        {"pageable_access", plain, 0, 1},
        {"bandwidth", size_units, 0, UINT64_MAX},
        {"launch", time_units, 0, day_ns},
        {"late_batch", plain, 0, 1},
        {"region", size_units, SIM_REGION_MIN, UINT64_C(1) << 40},
        {"return", time_units, 0, day_ns},
        {"driver", plain, 12000, 13990},
    };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t number;
        if (strcmp(key, keys[i].key) != 0) {
            continue;
        }
        if (!parse(value, keys[i].units, keys[i].most, &number) || number < keys[i].least) {
            return false;
        }
        switch (i) {
        case 0:
            sim_options.devices = (int)number;
            break;
        case 1:
            sim_options.delay_ns = number;
            break;
        case 2:
            sim_options.late = number;
            break;
        case 3:
            sim_options.late_limit_ns = number;
            break;
        case 4:
            sim_options.seed = number;
            break;
        case 5:
            sim_options.kernel_ns = number;
            break;
        case 6:
            sim_options.pageable_access = number;
            break;
        case 7:
            sim_options.bandwidth = number;
            break;
        case 8:
            sim_options.launch_ns = number;
            break;
        case 9:
            sim_options.late_batch = number;
            break;
        case 10:
            sim_options.region = number;
            break;
        case 11:
            sim_options.return_ns = number;
            break;
        case 12:
            sim_options.driver = (int)number;
            break;
        }
        return true;
    }
    return false;
}

static void complain(const char *key, const char *value)
{
    const char *parts[] = {"SIM_GPU: bad key or value: ", key, "=", value, "\n"};
    char line[256];
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t part = strnlen(parts[i], sizeof line - 1 - length);
        memcpy(line + length, parts[i], part);
        length += part;
    }
    line[length - 1] = '\n';
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
}

void sim_options_read(void)
{
    const char *text = getenv("SIM_GPU");
    char *copy = text ? strdup(text) : NULL;
    char *rest = copy;
    for (char *item; (item = strsep(&rest, ":")) != NULL;) {
        char *value = strchr(item, '=');
        if (*item == '\0') {
            continue;
        }
        if (value) {
            *value++ = '\0';
        }
        if (!value || !set(item, value)) {
            complain(item, value ? value : "");
        }
    }
    free(copy);
}

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
    .device_memory = {SIM_DEVICE_MEMORY, SIM_DEVICE_MEMORY, SIM_DEVICE_MEMORY, SIM_DEVICE_MEMORY,
                      SIM_DEVICE_MEMORY, SIM_DEVICE_MEMORY, SIM_DEVICE_MEMORY, SIM_DEVICE_MEMORY},
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
    if (*text < '0' || *text > '9')
        return false;
    uint64_t number = strtoull(text, &end, 10);
    for (; units->suffix; units++) {
        if (strcmp(end, units->suffix) == 0 && number <= most / units->scale) {
            *result = number * units->scale;
            return true;
        }
    }
    return false;
}

/* The keys, and the member that each sets: a flag, an int or a uint64_t. */
#define DAY_NS (UINT64_C(86400) * 1000000000)
#define SETS(member) &sim_options.member, sizeof sim_options.member
static const struct key {
    const char *name;
    void *member;
    size_t member_bytes;
    const struct unit *units;
    uint64_t least, most;
} keys[] = {
    {"devices", SETS(devices), plain, 0, SIM_MAX_DEVICES},
    {"visible", SETS(visible), plain, 0, 1},
    {"delay", SETS(delay_ns), time_units, 0, DAY_NS},
    {"late", SETS(late), plain, 0, 1},
    {"late_limit", SETS(late_limit_ns), time_units, 0, DAY_NS},
    {"seed", SETS(seed), plain, 0, UINT64_MAX},
    {"kernel", SETS(kernel_ns), time_units, 0, DAY_NS},
    {"aside", SETS(aside_ns), time_units, 0, DAY_NS},
    {"pageable_access", SETS(pageable_access), plain, 0, 1},
    {"managed_apart", SETS(managed_apart), plain, 0, 1},
    {"bandwidth", SETS(bandwidth), size_units, 0, UINT64_MAX},
    {"launch", SETS(launch_ns), time_units, 0, DAY_NS},
    {"late_batch", SETS(late_batch), plain, 0, 1},
    {"region", SETS(region), size_units, SIM_REGION_MIN, UINT64_C(1) << 40},
    {"return", SETS(return_ns), time_units, 0, DAY_NS},
    {"retain", SETS(retain_ns), time_units, 0, DAY_NS},
    {"driver", SETS(driver), plain, 12000, 13990},
    {"host_memory", SETS(host_memory), size_units, 0, UINT64_C(1) << 44},
    {"others_memory", SETS(others_memory), size_units, 0, UINT64_C(1) << 44},
};

static void store(const struct key *key, uint64_t number)
{
    if (key->member_bytes == sizeof(bool))
        *(bool *)key->member = number != 0;
    else if (key->member_bytes == sizeof(int))
        *(int *)key->member = (int)number;
    else
        *(uint64_t *)key->member = number;
}

/* "8G", or a size for each device, "8G,1G": the last one is that of all others, too. */
static bool set_device_memory(const char *value)
{
    uint64_t bytes[SIM_MAX_DEVICES] = {0};
    char *copy = strdup(value), *rest = copy;
    bool is_good = copy != NULL;
    int count = 0;
    for (char *item; is_good && (item = strsep(&rest, ",")) != NULL; count++)
        is_good = count < SIM_MAX_DEVICES &&
                  parse(item, size_units, UINT64_C(1) << 44, &bytes[count]) && bytes[count] > 0;
    for (int i = 0; is_good && i < SIM_MAX_DEVICES; i++)
        sim_options.device_memory[i] = bytes[i < count ? i : count - 1];
    free(copy);
    return is_good;
}

static bool set(const char *name, const char *value)
{
    if (strcmp(name, "device_memory") == 0)
        return set_device_memory(value);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        uint64_t number;
        if (strcmp(name, keys[i].name) != 0)
            continue;
        if (!parse(value, keys[i].units, keys[i].most, &number) || number < keys[i].least)
            return false;
        store(&keys[i], number);
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

int sim_options_driver(void)
{
    static const char key[] = "driver=";
    int version = SIM_DRIVER_VERSION;
    for (const char *item = getenv("SIM_GPU"); item; item = strchr(item, ':')) {
        item += *item == ':';
        if (strncmp(item, key, sizeof key - 1) == 0)
            version = atoi(item + sizeof key - 1);
    }
    return version;
}

/* The place of the device that `name` is of, by its number or by the beginning of its UUID; -1:
 * there is none. */
static int place_of(const char *name)
{
    static const char common[] = "GPU-73696d75-6c61-7465-642d-6770752d303"; /* and the place */
    uint64_t place = 0;
    if (strncmp(name, common, sizeof common - 1) == 0)
        name += sizeof common - 1;
    return parse(name, plain, UINT64_MAX, &place) && place < (uint64_t)sim_options.devices
               ? (int)place
               : -1;
}

/* As the driver has it: the devices that are named, in that order, up to the first name of none. */
static void choose_visible(void)
{
    const struct sim_options all = sim_options;
    const char *names = all.visible ? getenv("CUDA_VISIBLE_DEVICES") : NULL;
    char *copy = names ? strdup(names) : NULL, *rest = copy;
    int place = 0, count = 0;
    for (char *name; (name = strsep(&rest, ",")) != NULL && (place = place_of(name)) >= 0;) {
        sim_options.places[count] = place;
        sim_options.device_memory[count++] = all.device_memory[place];
        if (count == all.devices)
            break;
    }
    if (copy)
        sim_options.devices = count;
    free(copy);
}

int sim_device_at(int place)
{
    for (int i = 0; i < sim_options.devices; i++)
        if (sim_options.places[i] == place)
            return i;
    return -1;
}

void sim_options_read(void)
{
    for (int i = 0; i < SIM_MAX_DEVICES; i++)
        sim_options.places[i] = i;
    const char *text = getenv("SIM_GPU");
    char *copy = text ? strdup(text) : NULL;
    char *rest = copy;
    for (char *item; (item = strsep(&rest, ":")) != NULL;) {
        char *value = strchr(item, '=');
        if (*item == '\0')
            continue;
        if (value)
            *value++ = '\0';
        if (!value || !set(item, value))
            complain(item, value ? value : "");
    }
    free(copy);
    choose_visible();
}

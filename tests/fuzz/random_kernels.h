/* Kernels with addresses of device memory among their parameters, where `kernels` asks for them:
 * held against copies, memsets, allocations and frees (SC501, SC502), and put in order with
 * kernels=order.
 *
 * A kernel is a use of one byte for each address, which merely reads (random_device.h). It does
 * nothing. A part of random_program.h.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_KERNELS_H
#define SC_TESTS_FUZZ_RANDOM_KERNELS_H

enum { KERNEL_ADDRESSES = 3 };

/* Of three addresses, of a number that is none, and of a structure with one more address. */
static const char idle_kernel_text[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry idle(\n"
    "    .param .u64 first,\n    .param .u32 number,\n    .param .u64 second,\n"
    "    .param .align 8 .b8 packed[16])\n"
    "{\n    ret;\n}\n";

static CUfunction idle_kernel;

static void load_kernel(void)
{
    CUmodule module;
    CHECK(cuModuleLoadData(&module, idle_kernel_text));
    CHECK(cuModuleGetFunction(&idle_kernel, module, "idle"));
}

struct launch_uses {
    int slot, count;
    struct device_use of[KERNEL_ADDRESSES];
    CUdeviceptr addresses[KERNEL_ADDRESSES];
};

/* The library asks about an address once. */
static bool has_address(const struct launch_uses *launch, CUdeviceptr address)
{
    bool has = false;
    for (int i = 0; i < launch->count; i++)
        has |= launch->addresses[i] == address;
    return has;
}

static void draw_address(struct launch_uses *launch)
{
    int at = below(DEVICE_BLOCKS);
    if (!can_use_device(at) || !shared.blocks[at].alive)
        return;
    struct device_use use = use_of(at, launch->slot, true);
    use.size_bytes = 1;
    use.offset += one_in(4) ? (size_t)below(DEVICE_BLOCK_BYTES / 4) : 0;
    use.is_kernel = true;
    if (has_address(launch, address_of_use(&use)))
        return;
    launch->addresses[launch->count] = address_of_use(&use);
    launch->of[launch->count++] = use;
}

/* What orders one of them may be work that the others come behind. */
static void order_before_launch(const struct launch_uses *launch)
{
    for (int round = 0; round < launch->count; round++)
        for (int i = 0; i < launch->count; i++)
            order_before_use(&launch->of[i]);
}

/* What is no address of device memory, and what was given twice, is nothing. */
static void call_kernel(const struct launch_uses *launch)
{
    struct {
        uint64_t number;
        CUdeviceptr address;
    } packed = {(uintptr_t)world.scratch, 0};
    CUdeviceptr first = launch->addresses[0], second = first;
    unsigned number = (unsigned)draw();
    void *parameters[] = {&first, &number, &second, &packed};
    if (launch->count > 1)
        second = launch->addresses[1];
    if (launch->count > 2)
        packed.address = launch->addresses[2];
    CHECK(cuLaunchKernel(idle_kernel, 1, 1, 1, 1, 1, 1, 0, world.slots[launch->slot].handle,
                         parameters, NULL));
}

static void launch_kernel(const struct launch_uses *launch)
{
    order_before_launch(launch);
    say("kernel on slot %d; node %d", launch->slot, world.oracle.node_count);
    for (int i = 0; i < launch->count; i++)
        say("  of device block %d at %zu", launch->of[i].block, launch->of[i].offset);
    int stream = enter(launch->slot);
    int node = oracle_add_node(&world.oracle, stream);
    note_unclear(stream);
    for (int i = 0; i < launch->count; i++)
        judge_use(&launch->of[i], node);
    call_kernel(launch);
    for (int i = 0; i < launch->count; i++)
        keep_use(launch->of[i], node);
    leave(launch->slot);
}

static void act_kernel(void)
{
    struct launch_uses launch = {.slot = pick_slot()};
    int wanted = 1 + below(KERNEL_ADDRESSES);
    for (int i = 0; i < wanted && world.kernels; i++)
        draw_address(&launch);
    if (launch.count)
        launch_kernel(&launch);
}

#endif

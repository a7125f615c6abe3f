/* A plugin that allocates by itself. */
int sc_allocate(int (*allocate)(unsigned long long *block, unsigned long bytes), int blocks);

int sc_allocate(int (*allocate)(unsigned long long *block, unsigned long bytes), int blocks)
{
    unsigned long long block = 0;
    int failed = 0;
    for (int i = 0; i < blocks; i++)
        failed += allocate(&block, 1000) != 0;
    return failed;
}

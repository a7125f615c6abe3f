/* Functions that bear the driver's names and are not the driver's: reached by this library's handle
 * only. */
int cuMemAlloc_v2(int value);
int cuGetProcAddress_v2(int value);

int cuMemAlloc_v2(int value)
{
    return value + 2000;
}

int cuGetProcAddress_v2(int value)
{
    return value + 3000;
}

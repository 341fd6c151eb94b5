/* gimgxf --version */
#include "cli/commands/version.h"

#include <stdio.h>

#include "codecs/libraries.h"
#include "cuda/backend.h"
#include "cuda/backend_choose.h"

static void print_libraries(void)
{
    struct library list[LIBRARIES_MAX];
    size_t n = libraries_list(list);
    printf("libraries: ");
    for (size_t i = 0; i < n; i++)
        printf("%s%s %s", i ? ", " : "", list[i].name, list[i].version);
    putchar('\n');
}

static void print_gpus(void)
{
    char text[256];
    struct err why;
    const struct backend *cuda = backend_choose("cuda", &why);
    if (!cuda)
        printf("GPU: none; %s\n", why.text);
    for (unsigned i = 0; cuda && cuda->describe(i, text, sizeof text); i++)
        printf("GPU %u: %s\n", i, text);
}

void version_print(void)
{
    char text[256];
    puts("gimgxf " GIMGXF_VERSION);
    print_libraries();
    if (backend_cpu.describe(0, text, sizeof text))
        printf("SIMD: %s\n", text);
    print_gpus();
}

#include "CAllocator.h"

// In C, because the C library's own module leaves this header out.
#if defined(__APPLE__)
#include <malloc/malloc.h>
#elif defined(__linux__)
#include <malloc.h>
#endif

size_t allocator_bytes_in_use(void) {
#if defined(__APPLE__)
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return statistics.size_in_use;
#elif defined(__GLIBC__)
  // Small pieces of all threads, and large ones, which are mapped one by one.
  struct mallinfo2 statistics = mallinfo2();
  return statistics.uordblks + statistics.hblkhd;
#else
  return 0;
#endif
}

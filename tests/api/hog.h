/* hog.h - keeps a GPU busy for a while.  C and CUDA C++. */
#ifndef TRS_TEST_HOG_H
#define TRS_TEST_HOG_H

#ifdef __cplusplus
extern "C" {
#endif

/* Launches blocks of so many threads that all spin for some nanoseconds; a cudaStream_t. */
int hog_start(int blocks, int threads, unsigned long long nanoseconds, void *stream);

#ifdef __cplusplus
}
#endif
#endif

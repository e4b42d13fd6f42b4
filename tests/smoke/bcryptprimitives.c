/* Wine 8 (Debian 12) has no bcryptprimitives.dll, from which Rust programs take random numbers. This is that one
 * function. It is put into the scratch Wine directory of the smoke suite and nowhere else. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{
    return RtlGenRandom(bytes, (ULONG)count);
}

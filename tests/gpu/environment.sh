# shellcheck shell=bash
# To be sourced with `here` set to the bundle's folder: what lets its programs find each other, and CUDA's libraries.
: "${here:?the folder of the bundle}"
export GNNBENCH_HOME="$here" GNNBENCH_MPIEXEC="$here/mpi/bin/mpiexec" OPAL_PREFIX="$here/mpi" PATH="$here/bin:$here/mpi/bin:$PATH"
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
own="$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | sed -n 's/^.*libstdc++\.so\.6 .*=> //p' | head -n 1)"
newest="$({ cat "$here/lib/c++/version"; [[ -z "$own" ]] || basename "$(readlink -f "$own")"; } | sort -V | tail -n 1)"
[[ "$newest" != "$(<"$here/lib/c++/version")" ]] || LD_LIBRARY_PATH+=":$here/lib/c++"
for pmix in "$here"/mpi/lib/*/pmix*; do
    [[ ! -d "$pmix" ]] || export PMIX_INSTALL_PREFIX="$pmix"
done
export PMIX_MCA_pcompress_base_silence_warning=1 # its help texts stay behind
# CUDA's libraries, which may have come with Python packages.
packages="$(python3 -c 'import site, sysconfig; print(*{sysconfig.get_path("purelib"), *site.getsitepackages()})' 2>/dev/null)"
for folder in /usr/local/cuda/lib64 /usr/local/cuda/lib $packages; do
    for cuda in "$folder" "$folder"/nvidia/*/lib; do
        [[ -z "$(find "$cuda/" -maxdepth 1 \( -name 'libcu*.so*' -o -name 'libnccl.so*' \) 2>/dev/null)" ]] ||
            LD_LIBRARY_PATH+=":$cuda"
    done
done

# Which files are damaged. (test-digest has the digests of the others.)
. "$ROOT/tests/cli/lib.sh"
needs python3

# ---- Soundness ----

gives 0 '' check "$samples"/f[-.]*
check 'nothing is said of sound files' [ ! -s stdout ]
gives 0 '' check -v "$samples/f.jpg"
check 'but with -v' [ "$(cat stdout)" = "$samples/f.jpg: sound, JPEG, 48 x 64" ]
mkdir -p tree/below
cp "$samples/f-rgb.png" "$samples/f.jpg" tree
head -c 900 "$samples/f.jpg" >tree/below/cut.jpg
head -c 3000 "$samples/f-rgb.png" >tree/below/cut.png
head -c 5000 "$samples/f.ppm" >tree/below/cut.ppm
gimgxf check -r tree >stdout 2>said
check 'status of a tree' [ $? = 1 ]
check "a tree: $(cat said)" [ "$(cut -d: -f2 said | tr -d ' \n')" = \
    tree/below/cut.jpgtree/below/cut.pngtree/below/cut.ppm3of5filesarenotsound ]
check 'the reason' grep -qF 'cut.ppm: the image data is cut short' said
gimgxf check -q -r tree 2>said
check 'no summary' [ "$(wc -l <said)" = 3 ]
gimgxf check --json tree/below/cut.ppm >said 2>&1
check 'JSON of a damaged one' grep -q '"sound": false, "format": "pnm", "warnings"' said
gives 2 'gimgxf: check needs the name of a file' check
gives 2 'gimgxf: --strip: gimgxf check writes no pictures, so the option changes '\
'nothing' check --strip "$samples/f.jpg"
# What was not read to its end may be sound.
not='not checked'
gives 1 "gimgxf: none: $not: No such file or directory" check none
gives 1 "gimgxf: $samples/f.ppm: $not: 48 x 64 pixels are more than the 3000 of \
--max-pixels; --max-pixels 3072 allows them" check --max-pixels 3000 "$samples/f.ppm"
gimgxf check --max-pixels 3000 none "$samples/f.jpg" tree/below/cut.ppm \
    "$samples/turns.svg" tree 2>said
check 'not checked: counted' [ "$(tail -n 1 said)" = \
    'gimgxf: 0 of 5 files are not sound; not checked: 5' ]
gimgxf check tree/below/cut.ppm none 2>said
check 'not checked: counted beside others' [ "$(tail -n 1 said)" = \
    'gimgxf: 1 of 2 files are not sound; not checked: 1' ]
{ printf 'P6 3000 2000 255\n' && head -c 18000000 /dev/zero; } >large.ppm
gimgxf -q copy large.ppm large.png
for file in large.ppm large.png; do
    gimgxf check --json --max-memory 10M $file 2>/dev/null >said
    check "$file: too large" [ $? = 1 ]
    check "$file: may be sound" grep -q '"sound": null, .*of --max-memory' said
    gimgxf check --json $file | grep -q '"sound": true'
    check "$file: is sound" [ $? = 0 ]
done
rm large.p?m large.png
: >empty.png
gimgxf check --json empty.png 2>/dev/null >said
check 'an empty file is not' grep -q '"sound": false' said

finish

package inputs

import (
	"slices"
	"sync"
)

// ProjectDir is a project that a client has open, relative to Options.Dir.
const ProjectDir = Word + "-shop"

// worked are the files of a project that somebody works on.
var worked = []File{
	{".editorconfig", []byte("root = true\n\n[*]\nindent_style = space\n")},
	{".github/workflows/ci.yml", []byte("name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n" +
		"      - run: npm ci\n      - run: npm test\n")},
	{".gitignore", []byte("node_modules/\ndist/\n*.log\n")},
	{"README.md", []byte("# shop\n\nThe front end of the shop, and its API.\n")},
	{"package.json", []byte(`{"name":"shop","version":"2.4.0","private":true,"scripts":{"build":"tsc -p .","start":"node dist/index.js","test":"node --test dist"},` +
		`"dependencies":{"express":"^4.21.2","pg":"^8.13.1"},"devDependencies":{"typescript":"^5.7.2"}}` + "\n")},
	{"src/index.ts", []byte("import express from \"express\";\n\nexpress().listen(Number(process.env.PORT ?? 3000));\n")},
	{"tsconfig.json", []byte(`{"compilerOptions":{"outDir":"dist","strict":true},"include":["src"]}` + "\n")},
}

// Project returns the files of a repository with a project, because editors start servers in one. Where a
// directory above has some of them, these are left out: the directory then belongs to that project, as
// package.json tells Node.js.
var Project = sync.OnceValue(func() []File {
	r := history{}
	var files []tracked
	for _, f := range worked {
		files = append(files, tracked{f.Path, r.blob(string(f.Content))})
	}
	head := r.commit("Serve the shop", r.commit("Begin", "", files[2:4]...), files...)
	return slices.Concat(worked, r.files, []File{
		{".git/HEAD", []byte("ref: refs/heads/main\n")},
		{".git/config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n" +
			"[remote \"origin\"]\n\turl = git@git.meridian-freight.com:platform/shop.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n" +
			"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n")},
		{".git/refs/heads/main", []byte(head + "\n")},
		{".git/refs/remotes/origin/main", []byte(head + "\n")},
		{".git/index", index(files...)},
	})
})

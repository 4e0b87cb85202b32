package inputs

// ProjectFiles make a directory a repository that somebody works on, as editors start servers
// in. What of them a directory above has already is left out: it is a
// part of that one's project, as package.json tells Node.js.
var ProjectFiles = []File{
	{".git/HEAD", []byte("ref: refs/heads/main\n")},
	{".git/config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n" +
		"[remote \"origin\"]\n\turl = git@git.meridian-freight.com:platform/shop.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")},
	{".git/refs/heads/main", []byte("9f2c1d7be04a53c6f18e92d0a7b64c3358e1f0ad\n")},
	{".git/objects/info/packs", nil},
	{".gitignore", []byte("node_modules/\ndist/\n*.log\n")},
	{".editorconfig", []byte("root = true\n\n[*]\nindent_style = space\n")},
	{"package.json", []byte(`{"name":"shop","version":"2.4.0","private":true}` + "\n")},
	{"README.md", []byte("# shop\n\nThe front end of the shop, and its API.\n")},
}
